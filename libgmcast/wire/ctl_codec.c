/* SPDX-License-Identifier: BSD-2-Clause */
/* Owns requests of the control API as bytes. */
#include "wire/ctl_codec.h"

#include "proto/ctl.pb-c.h"
#include "wire/control.h"
#include "wire/ctl_arena.h"

/* ---- encoding ---- */

/* The inner messages of a request; which one counts is said by the kind. */
union request_parts {
    Gmcast__Ctl__Stage stage;
    Gmcast__Ctl__Status status;
    Gmcast__Ctl__Cancel cancel;
    Gmcast__Ctl__Resume resume;
    Gmcast__Ctl__Peers peers;
    Gmcast__Ctl__Counters counters;
    Gmcast__Ctl__NodeAdd node_add;
    Gmcast__Ctl__NodeRemove node_remove;
    Gmcast__Ctl__Nodes nodes;
    Gmcast__Ctl__Doctor doctor;
    struct {
        Gmcast__Ctl__Add add;
        Gmcast__Ctl__Target target;
    } add;
};

static void fill_target(const struct gmc_ctl_target *from, Gmcast__Ctl__Target *to)
{
    const char *path = from->path != NULL ? from->path : "";

    gmcast__ctl__target__init(to);
    to->domain = gmc_ctl_text(from->domain);
    to->path = gmc_ctl_data(path, gmc_bytes_of_text(path).len);
    to->inside = gmc_ctl_text(from->inside);
}

static gmc_status fill_stage(struct gmc_ctl_holder *holder, const struct gmc_ctl_request *request,
                             Gmcast__Ctl__Stage *stage)
{
    Gmcast__Ctl__Target *targets;

    gmcast__ctl__stage__init(stage);
    stage->from = gmc_ctl_text(request->from);
    stage->shape = gmc_ctl_text(request->shape);
    stage->rate_bps = request->rate_bps;
    stage->background = request->background;
    stage->n_sources = request->source_count;
    stage->sources = gmc_ctl_alloc(holder, request->source_count, sizeof *stage->sources);
    stage->n_targets = request->target_count;
    stage->targets = gmc_ctl_alloc(holder, request->target_count, sizeof(void *));
    targets = gmc_ctl_alloc(holder, request->target_count, sizeof *targets);
    if (stage->sources == NULL || stage->targets == NULL || targets == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < request->source_count; i++)
        stage->sources[i] =
            gmc_ctl_data(request->sources[i], gmc_bytes_of_text(request->sources[i]).len);
    for (size_t i = 0; i < request->target_count; i++) {
        fill_target(&request->targets[i], &targets[i]);
        stage->targets[i] = &targets[i];
    }
    return GMC_OK;
}

static gmc_status fill_add(const struct gmc_ctl_request *request, union request_parts *parts)
{
    if (request->target_count != 1)
        return GMC_ERR_INVALID;
    gmcast__ctl__add__init(&parts->add.add);
    parts->add.add.channel = gmc_ctl_text(request->channel);
    fill_target(&request->targets[0], &parts->add.target);
    parts->add.add.target = &parts->add.target;
    return GMC_OK;
}

static gmc_status fill_doctor(struct gmc_ctl_holder *holder, const struct gmc_ctl_request *request,
                              Gmcast__Ctl__Doctor *doctor)
{
    gmcast__ctl__doctor__init(doctor);
    doctor->domains = gmc_ctl_alloc(holder, request->target_count, sizeof *doctor->domains);
    if (doctor->domains == NULL)
        return GMC_ERR_NOMEM;
    doctor->n_domains = request->target_count;
    for (size_t i = 0; i < request->target_count; i++)
        doctor->domains[i] = gmc_ctl_text(request->targets[i].domain);
    return GMC_OK;
}

static gmc_status fill_node_request(const struct gmc_ctl_request *request,
                                    Gmcast__Ctl__Request *message, union request_parts *parts)
{
    switch (request->kind) {
    case GMC_CTL_NODE_ADD:
        gmcast__ctl__node_add__init(&parts->node_add);
        parts->node_add.name = gmc_ctl_text(request->node);
        parts->node_add.lifetime_s = request->lifetime_s;
        message->kind_case = GMCAST__CTL__REQUEST__KIND_NODE_ADD;
        message->node_add = &parts->node_add;
        return GMC_OK;
    case GMC_CTL_NODE_REMOVE:
        gmcast__ctl__node_remove__init(&parts->node_remove);
        parts->node_remove.name = gmc_ctl_text(request->node);
        message->kind_case = GMCAST__CTL__REQUEST__KIND_NODE_REMOVE;
        message->node_remove = &parts->node_remove;
        return GMC_OK;
    case GMC_CTL_NODES:
        gmcast__ctl__nodes__init(&parts->nodes);
        message->kind_case = GMCAST__CTL__REQUEST__KIND_NODES;
        message->nodes = &parts->nodes;
        return GMC_OK;
    default:
        return GMC_ERR_INVALID;
    }
}

static gmc_status fill_request(struct gmc_ctl_holder *holder, const struct gmc_ctl_request *request,
                               Gmcast__Ctl__Request *message, union request_parts *parts)
{
    gmcast__ctl__request__init(message);
    switch (request->kind) {
    case GMC_CTL_STAGE:
        message->kind_case = GMCAST__CTL__REQUEST__KIND_STAGE;
        message->stage = &parts->stage;
        return fill_stage(holder, request, &parts->stage);
    case GMC_CTL_PLAN:
        message->kind_case = GMCAST__CTL__REQUEST__KIND_PLAN;
        message->plan = &parts->stage;
        return fill_stage(holder, request, &parts->stage);
    case GMC_CTL_ADD:
        message->kind_case = GMCAST__CTL__REQUEST__KIND_ADD;
        message->add = &parts->add.add;
        return fill_add(request, parts);
    case GMC_CTL_STATUS:
        gmcast__ctl__status__init(&parts->status);
        parts->status.channel = gmc_ctl_text(request->channel);
        parts->status.local = request->local;
        message->kind_case = GMCAST__CTL__REQUEST__KIND_STATUS;
        message->status = &parts->status;
        return GMC_OK;
    case GMC_CTL_CANCEL:
        gmcast__ctl__cancel__init(&parts->cancel);
        parts->cancel.channel = gmc_ctl_text(request->channel);
        parts->cancel.local = request->local;
        message->kind_case = GMCAST__CTL__REQUEST__KIND_CANCEL;
        message->cancel = &parts->cancel;
        return GMC_OK;
    case GMC_CTL_RESUME:
        gmcast__ctl__resume__init(&parts->resume);
        parts->resume.channel = gmc_ctl_text(request->channel);
        message->kind_case = GMCAST__CTL__REQUEST__KIND_RESUME;
        message->resume = &parts->resume;
        return GMC_OK;
    case GMC_CTL_PEERS:
        gmcast__ctl__peers__init(&parts->peers);
        message->kind_case = GMCAST__CTL__REQUEST__KIND_PEERS;
        message->peers = &parts->peers;
        return GMC_OK;
    case GMC_CTL_COUNTERS:
        gmcast__ctl__counters__init(&parts->counters);
        message->kind_case = GMCAST__CTL__REQUEST__KIND_COUNTERS;
        message->counters = &parts->counters;
        return GMC_OK;
    case GMC_CTL_DOCTOR:
        message->kind_case = GMCAST__CTL__REQUEST__KIND_DOCTOR;
        message->doctor = &parts->doctor;
        return fill_doctor(holder, request, &parts->doctor);
    default:
        return fill_node_request(request, message, parts);
    }
}

gmc_status gmc_ctl_encode_request(const struct gmc_ctl_request *request, uint8_t **out, size_t *len)
{
    struct gmc_ctl_holder *holder = gmc_ctl_holder_new();
    Gmcast__Ctl__Request message;
    union request_parts parts;
    gmc_status status;

    if (holder == NULL)
        return GMC_ERR_NOMEM;
    status = fill_request(holder, request, &message, &parts);
    if (status == GMC_OK)
        status = gmc_ctl_pack(&message.base, out, len);
    gmc_ctl_release(holder);
    return status;
}

/* ---- decoding ---- */

static gmc_status take_target(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Target *from,
                              struct gmc_ctl_target *to)
{
    if (from == NULL || !gmc_ctl_text_fits(from->domain, GMC_NAME_MAX) || from->domain[0] == '\0' ||
        !gmc_ctl_text_fits(from->inside, GMC_INSIDE_BYTES_MAX))
        return GMC_ERR_INVALID;
    to->domain = from->domain;
    to->inside = from->inside;
    return gmc_ctl_copy_path(holder, &from->path, GMC_CTL_PATH_MAX, &to->path);
}

static gmc_status take_sources(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Stage *stage,
                               struct gmc_ctl_request *request)
{
    const char **sources = gmc_ctl_alloc(holder, stage->n_sources, sizeof *sources);

    if (sources == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < stage->n_sources; i++) {
        gmc_status status =
            gmc_ctl_copy_path(holder, &stage->sources[i], GMC_CTL_PATH_MAX, &sources[i]);

        if (status != GMC_OK)
            return status;
    }
    request->sources = sources;
    request->source_count = stage->n_sources;
    return GMC_OK;
}

static gmc_status take_stage(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Stage *stage,
                             enum gmc_ctl_kind kind, struct gmc_ctl_request *request)
{
    struct gmc_ctl_target *targets;

    if (stage->n_sources > GMC_CTL_SOURCES_MAX || stage->n_targets > GMC_CTL_TARGETS_MAX ||
        !gmc_ctl_text_fits(stage->from, GMC_NAME_MAX) ||
        !gmc_ctl_text_fits(stage->shape, GMC_NAME_MAX))
        return GMC_ERR_INVALID;
    targets = gmc_ctl_alloc(holder, stage->n_targets, sizeof *targets);
    if (targets == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < stage->n_targets; i++) {
        gmc_status status = take_target(holder, stage->targets[i], &targets[i]);

        if (status != GMC_OK)
            return status;
    }
    request->kind = kind;
    request->from = stage->from;
    request->shape = stage->shape;
    request->rate_bps = stage->rate_bps;
    request->background = stage->background;
    request->targets = targets;
    request->target_count = stage->n_targets;
    return take_sources(holder, stage, request);
}

static gmc_status take_channel(const char *channel, enum gmc_ctl_kind kind,
                               struct gmc_ctl_request *request)
{
    if (!gmc_ctl_text_fits(channel, GMC_CTL_CHANNEL_TEXT_MAX - 1))
        return GMC_ERR_INVALID;
    request->kind = kind;
    request->channel = channel;
    return GMC_OK;
}

static gmc_status take_add(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Add *add,
                           struct gmc_ctl_request *request)
{
    struct gmc_ctl_target *target = gmc_ctl_alloc(holder, 1, sizeof *target);
    gmc_status status;

    if (target == NULL)
        return GMC_ERR_NOMEM;
    status = take_target(holder, add->target, target);
    if (status != GMC_OK)
        return status;
    request->targets = target;
    request->target_count = 1;
    return take_channel(add->channel, GMC_CTL_ADD, request);
}

static gmc_status take_doctor(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Doctor *doctor,
                              struct gmc_ctl_request *request)
{
    struct gmc_ctl_target *targets;

    if (doctor->n_domains > GMC_CTL_TARGETS_MAX)
        return GMC_ERR_INVALID;
    targets = gmc_ctl_alloc(holder, doctor->n_domains, sizeof *targets);
    if (targets == NULL)
        return GMC_ERR_NOMEM;
    for (size_t i = 0; i < doctor->n_domains; i++) {
        const char *domain = doctor->domains[i];

        if (!gmc_ctl_text_fits(domain, GMC_NAME_MAX) || domain[0] == '\0')
            return GMC_ERR_INVALID;
        targets[i] = (struct gmc_ctl_target){.domain = domain, .path = "", .inside = ""};
    }
    request->kind = GMC_CTL_DOCTOR;
    request->targets = targets;
    request->target_count = doctor->n_domains;
    return GMC_OK;
}

static gmc_status take_node(const char *name, enum gmc_ctl_kind kind, uint32_t lifetime_s,
                            struct gmc_ctl_request *request)
{
    if (!gmc_ctl_text_fits(name, GMC_NAME_MAX) || name[0] == '\0')
        return GMC_ERR_INVALID;
    request->kind = kind;
    request->node = name;
    request->lifetime_s = lifetime_s;
    return GMC_OK;
}

static gmc_status take_request(struct gmc_ctl_holder *holder, const Gmcast__Ctl__Request *message,
                               struct gmc_ctl_request *request)
{
    *request = (struct gmc_ctl_request){.channel = "", .from = "", .shape = "", .node = ""};
    switch (message->kind_case) {
    case GMCAST__CTL__REQUEST__KIND_STAGE:
        return take_stage(holder, message->stage, GMC_CTL_STAGE, request);
    case GMCAST__CTL__REQUEST__KIND_PLAN:
        return take_stage(holder, message->plan, GMC_CTL_PLAN, request);
    case GMCAST__CTL__REQUEST__KIND_ADD:
        return take_add(holder, message->add, request);
    case GMCAST__CTL__REQUEST__KIND_STATUS:
        request->local = message->status->local;
        return take_channel(message->status->channel, GMC_CTL_STATUS, request);
    case GMCAST__CTL__REQUEST__KIND_CANCEL:
        request->local = message->cancel->local;
        return take_channel(message->cancel->channel, GMC_CTL_CANCEL, request);
    case GMCAST__CTL__REQUEST__KIND_RESUME:
        return take_channel(message->resume->channel, GMC_CTL_RESUME, request);
    case GMCAST__CTL__REQUEST__KIND_PEERS:
        return take_channel("", GMC_CTL_PEERS, request);
    case GMCAST__CTL__REQUEST__KIND_COUNTERS:
        return take_channel("", GMC_CTL_COUNTERS, request);
    case GMCAST__CTL__REQUEST__KIND_NODE_ADD:
        return take_node(message->node_add->name, GMC_CTL_NODE_ADD, message->node_add->lifetime_s,
                         request);
    case GMCAST__CTL__REQUEST__KIND_NODE_REMOVE:
        return take_node(message->node_remove->name, GMC_CTL_NODE_REMOVE, 0, request);
    case GMCAST__CTL__REQUEST__KIND_NODES:
        return take_channel("", GMC_CTL_NODES, request);
    case GMCAST__CTL__REQUEST__KIND_DOCTOR:
        return take_doctor(holder, message->doctor, request);
    default:
        return GMC_ERR_TYPE;
    }
}

gmc_status gmc_ctl_decode_request(struct gmc_bytes bytes, struct gmc_ctl_request *request,
                                  struct gmc_ctl_holder **holder)
{
    struct gmc_ctl_holder *made = gmc_ctl_holder_new();
    Gmcast__Ctl__Request *message;
    struct gmc_ctl_request taken;
    gmc_status status = GMC_ERR_INVALID;

    if (made == NULL)
        return GMC_ERR_NOMEM;
    message = gmcast__ctl__request__unpack(NULL, bytes.len, bytes.data);
    if (message != NULL) {
        made->message = &message->base;
        status = take_request(made, message, &taken);
    }
    if (status != GMC_OK) {
        gmc_ctl_release(made);
        return status;
    }
    *request = taken;
    *holder = made;
    return GMC_OK;
}
