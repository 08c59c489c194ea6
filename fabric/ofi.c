/* SPDX-License-Identifier: BSD-2-Clause */
/* The wire over libfabric: see ofi.h. One endpoint of reliable datagrams, one queue of what is
 * over, one table of addresses. */
#include "fabric/ofi.h"

#include <dirent.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fabric/ofi_library.h"

#define VERSION FI_VERSION(1, 11)
#define ADDRESS_MAX 256u
#define ENTRIES_MAX 64
#define QUEUE 1024u /* entries: more than messages under way */
#define SHARED_FOLDER "/dev/shm"
#define SHARED_PREFIX "gmcast-"

_Static_assert(sizeof(struct fi_context2) <= sizeof(((struct fab_op *)NULL)->of_wire),
               "an operation has room for libfabric's");

struct ofi {
    const struct fab_ofi_library *library;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *addresses;
    struct fid_cq *queue;
    struct fid_ep *endpoint;
    struct fid_mr *memory;
    void *descriptor; /* of memory, where the provider wants one */
    uint8_t address[ADDRESS_MAX];
    size_t address_len;
    char error[160];
};

/* ---- what there is ---- */
/* NULL: no memory. */
static struct fi_info *make_hints(const struct fab_ofi_library *library, const char *provider)
{
    struct fi_info *hints = library->dupinfo(NULL);
    if (hints == NULL)
        return NULL;
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->fabric_attr->prov_name = provider != NULL ? strdup(provider) : NULL;
    return hints;
}

/* NULL: there is none, or no memory. */
static struct fi_info *look_up(const struct fab_ofi_library *library, const char *provider)
{
    struct fi_info *hints = make_hints(library, provider), *found = NULL;
    if (hints == NULL)
        return NULL;
    if (library->getinfo(VERSION, NULL, NULL, 0, hints, &found) != 0)
        found = NULL;
    library->freeinfo(hints);
    return found;
}

/* Its peers are names of memory, with locks in it that each side takes. */
static bool shares_memory(const struct fi_info *info)
{
    return info->addr_format == FI_ADDR_STR;
}

/* The provider below, "tcp" of "tcp;ofi_rxm"; the domain. */
static void word_of(const struct fi_info *info, bool of_domain, char *out, size_t size)
{
    const char *text = of_domain ? info->domain_attr->name : info->fabric_attr->prov_name;
    (void)snprintf(out, size, "%.*s", (int)strcspn(text, ";"), text);
}

/* Adds the words to text, each once. */
static void list_words(const struct fi_info *info, bool of_domain, char *text, size_t size)
{
    char word[64], list[512] = ",";
    for (; info != NULL; info = info->next) {
        char wanted[68];
        word_of(info, of_domain, word, sizeof word);
        (void)snprintf(wanted, sizeof wanted, ",%s,", word);
        if (strstr(list, wanted) == NULL && strlen(list) + strlen(wanted) < sizeof list)
            (void)strcat(list, wanted + 1);
    }
    size_t used = strlen(text);
    for (const char *at = list + 1; *at != '\0' && used < size; at += strcspn(at, ",") + 1)
        used += (size_t)snprintf(text + used, size - used, "%s%.*s", at == list + 1 ? "" : ", ",
                                 (int)strcspn(at, ","), at);
}

static void say_missing(const struct fab_ofi_library *library,
                        const struct fab_ofi_options *options, char *reason, size_t size)
{
    struct fi_info *all = look_up(library, options->provider);
    bool of_domain = all != NULL;
    if (!of_domain)
        all = look_up(library, NULL);
    (void)snprintf(reason, size,
                   of_domain ? "fabric_domain: provider '%s' has no '%s' here; there are: "
                             : "fabric: libfabric has no provider '%s' here; there are: ",
                   options->provider, options->domain);
    list_words(all, of_domain, reason, size);
    if (all != NULL)
        library->freeinfo(all);
}

static bool is_word(const struct fi_info *info, bool of_domain, const char *word)
{
    char own[64];
    word_of(info, of_domain, own, sizeof own);
    return strcmp(own, word) == 0;
}

/* Layered providers do not look at the domain's name, so we do. NULL with a reason. */
static struct fi_info *choose(const struct fab_ofi_library *library,
                              const struct fab_ofi_options *options, char *reason, size_t size)
{
    struct fi_info *found = look_up(library, options->provider), *chosen = NULL;
    for (const struct fi_info *info = found; info != NULL && chosen == NULL; info = info->next)
        if (is_word(info, false, options->provider) &&
            (options->domain[0] == '\0' || is_word(info, true, options->domain)))
            chosen = library->dupinfo(info);
    if (found != NULL)
        library->freeinfo(found);
    if (chosen == NULL)
        say_missing(library, options, reason, size);
    return chosen;
}

/* NULL with a reason. */
static struct fi_info *choose_allowed(const struct fab_ofi_library *library,
                                      const struct fab_ofi_options *options, char *reason,
                                      size_t size)
{
    struct fi_info *chosen = choose(library, options, reason, size);
    if (chosen == NULL || options->may_share_memory || !shares_memory(chosen))
        return chosen;
    library->freeinfo(chosen);
    (void)snprintf(reason, size,
                   "fabric: provider '%s' shares memory and locks with other daemons, and one that "
                   "is stopped or killed can hang all of them; choose another one, such as tcp, or "
                   "for trying it set fabric_shared_memory = \"allowed\"",
                   options->provider);
    return NULL;
}

bool fab_ofi_is_there(const struct fab_ofi_options *options, char *reason, size_t size)
{
    const struct fab_ofi_library *library = fab_ofi_library(reason, size);
    struct fi_info *info = library != NULL ? choose_allowed(library, options, reason, size) : NULL;
    if (info != NULL)
        library->freeinfo(info);
    return info != NULL;
}

/* ---- messages ---- */
static bool set_error(struct ofi *ofi, const char *what, ssize_t error)
{
    (void)snprintf(ofi->error, sizeof ofi->error, "%s: %s", what,
                   ofi->library->strerror((int)-error));
    return false;
}

static bool use_memory(void *wire, void *data, size_t len)
{
    struct ofi *ofi = wire;
    if ((ofi->info->domain_attr->mr_mode & FI_MR_LOCAL) == 0)
        return true;
    int error = fi_mr_reg(ofi->domain, data, len, FI_SEND | FI_RECV, 0, 0, 0, &ofi->memory, NULL);
    if (error != 0)
        return set_error(ofi, "memory cannot be registered", error);
    ofi->descriptor = fi_mr_desc(ofi->memory);
    return true;
}

/* Of the form of our own: a provider reads as many bytes as its form has. */
static bool find(void *wire, struct gmc_bytes address, uint64_t *to)
{
    struct ofi *ofi = wire;
    uint8_t copy[ADDRESS_MAX + 1] = {0}; /* texts end */
    bool is_text = shares_memory(ofi->info);
    fi_addr_t found = FI_ADDR_NOTAVAIL;
    if (address.len == 0 || address.len > ADDRESS_MAX ||
        (!is_text && address.len != ofi->address_len))
        return false;
    memcpy(copy, address.data, address.len);
    /* A socket's address begins with its family. */
    if (!is_text && memcmp(copy, ofi->address, 2) != 0 && ofi->info->addr_format <= FI_SOCKADDR_IN6)
        return false;
    if (fi_av_insert(ofi->addresses, copy, 1, &found, 0, NULL) != 1 || found == FI_ADDR_NOTAVAIL)
        return false;
    *to = found;
    return true;
}

/* Where memory is shared nobody is forgotten: libfabric 1.17 then sends to who is left through
 * memory that it has given back. */
static void forget(void *wire, uint64_t to)
{
    struct ofi *ofi = wire;
    fi_addr_t address = to;
    if (!shares_memory(ofi->info))
        (void)fi_av_remove(ofi->addresses, &address, 1, 0);
}

static enum fab_posted posted(struct ofi *ofi, const char *what, ssize_t result)
{
    if (result == 0)
        return FAB_POSTED;
    if (result == -FI_EAGAIN)
        return FAB_BUSY;
    (void)set_error(ofi, what, result);
    return FAB_FAILED;
}

static enum fab_posted send_message(void *wire, uint64_t to, const uint8_t *data, size_t len,
                                    struct fab_op *op)
{
    struct ofi *ofi = wire;
    return posted(ofi, "cannot send", fi_send(ofi->endpoint, data, len, ofi->descriptor, to, op));
}

static enum fab_posted receive_message(void *wire, uint8_t *data, size_t len, struct fab_op *op)
{
    struct ofi *ofi = wire;
    return posted(ofi, "cannot receive",
                  fi_recv(ofi->endpoint, data, len, ofi->descriptor, FI_ADDR_UNSPEC, op));
}

/* The one that failed. 0: none of ours did. */
static int take_error(struct ofi *ofi, struct fab_done *done)
{
    struct fi_cq_err_entry entry = {0};
    ssize_t result = fi_cq_readerr(ofi->queue, &entry, 0);
    if (result < 0 && result != -FI_EAGAIN) {
        (void)set_error(ofi, "the queue is broken", result);
        return -1;
    }
    if (result <= 0 || entry.op_context == NULL)
        return 0;
    (void)snprintf(ofi->error, sizeof ofi->error, "%s", ofi->library->strerror(entry.err));
    *done = (struct fab_done){.op = entry.op_context, .error = ofi->error};
    return 1;
}

static int poll_queue(void *wire, struct fab_done *done, int max)
{
    struct ofi *ofi = wire;
    struct fi_cq_msg_entry entries[ENTRIES_MAX];
    ssize_t count =
        fi_cq_read(ofi->queue, entries, (size_t)(max < ENTRIES_MAX ? max : ENTRIES_MAX));
    if (count == -FI_EAGAIN)
        return 0;
    if (count == -FI_EAVAIL)
        return take_error(ofi, done);
    if (count < 0) {
        (void)set_error(ofi, "the queue is broken", count);
        return -1;
    }
    for (ssize_t i = 0; i < count; i++)
        done[i] = (struct fab_done){.op = entries[i].op_context, .len = entries[i].len};
    return (int)count;
}

static bool may_sleep(void *wire)
{
    struct ofi *ofi = wire;
    struct fid *waited[1] = {&ofi->queue->fid};
    return fi_trywait(ofi->fabric, waited, 1) == FI_SUCCESS;
}

static const char *error_of(void *wire)
{
    struct ofi *ofi = wire;
    return ofi->error;
}

static void close_one(void *fid)
{
    if (fid != NULL)
        (void)fi_close(fid);
}

static void ofi_free(void *wire)
{
    struct ofi *ofi = wire;
    close_one(ofi->endpoint);
    close_one(ofi->memory);
    close_one(ofi->queue);
    close_one(ofi->addresses);
    close_one(ofi->domain);
    close_one(ofi->fabric);
    if (ofi->info != NULL)
        ofi->library->freeinfo(ofi->info);
    free(ofi);
}

/* ---- making ---- */
static bool is_of(const char *file, const char *name)
{
    size_t prefix = strlen(SHARED_PREFIX), len = strlen(name);
    return strncmp(file, SHARED_PREFIX, prefix) == 0 && strncmp(file + prefix, name, len) == 0 &&
           file[prefix + len] == '-';
}

/* Where memory is shared its name is new with every start, because a peer may still have the one of
 * before; what a killed daemon of this name left behind is taken away. */
static bool name_memory(struct ofi *ofi, const char *name)
{
    static unsigned starts;
    char text[ADDRESS_MAX];
    DIR *folder;
    if (!shares_memory(ofi->info))
        return true;
    folder = opendir(SHARED_FOLDER);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        if (is_of(entry->d_name, name))
            (void)shm_unlink(entry->d_name);
    if (folder != NULL)
        (void)closedir(folder);
    (void)snprintf(text, sizeof text, "fi_ns://" SHARED_PREFIX "%s-%ld-%u", name, (long)getpid(),
                   starts++);
    free(ofi->info->src_addr);
    ofi->info->src_addr = strdup(text);
    ofi->info->src_addrlen = strlen(text) + 1;
    return ofi->info->src_addr != NULL;
}

/* Without a descriptor that tells it is polled. */
static int open_queue(struct ofi *ofi, int *fd)
{
    struct fi_cq_attr attr = {.size = QUEUE, .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD};
    *fd = -1;
    if (fi_cq_open(ofi->domain, &attr, &ofi->queue, NULL) == 0)
        return fi_control(&ofi->queue->fid, FI_GETWAIT, fd);
    attr = (struct fi_cq_attr){.size = QUEUE, .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE};
    return fi_cq_open(ofi->domain, &attr, &ofi->queue, NULL);
}

static bool open_all(struct ofi *ofi, int *fd)
{
    struct fi_av_attr av = {.type = ofi->info->domain_attr->av_type};
    int error = ofi->library->fabric(ofi->info->fabric_attr, &ofi->fabric, NULL);
    if (error != 0)
        return set_error(ofi, "fabric", error);
    error = fi_domain(ofi->fabric, ofi->info, &ofi->domain, NULL);
    if (error != 0)
        return set_error(ofi, "domain", error);
    error = fi_av_open(ofi->domain, &av, &ofi->addresses, NULL);
    if (error != 0)
        return set_error(ofi, "addresses", error);
    error = open_queue(ofi, fd);
    if (error != 0)
        return set_error(ofi, "queue", error);
    error = fi_endpoint(ofi->domain, ofi->info, &ofi->endpoint, NULL);
    if (error == 0)
        error = fi_ep_bind(ofi->endpoint, &ofi->queue->fid, FI_TRANSMIT | FI_RECV);
    if (error == 0)
        error = fi_ep_bind(ofi->endpoint, &ofi->addresses->fid, 0);
    if (error == 0)
        error = fi_enable(ofi->endpoint);
    if (error != 0)
        return set_error(ofi, "endpoint", error);
    ofi->address_len = sizeof ofi->address;
    error = fi_getname(&ofi->endpoint->fid, ofi->address, &ofi->address_len);
    return error == 0 || set_error(ofi, "address", error);
}

bool fab_ofi_open(const struct fab_ofi_options *options, struct fab_wire *wire, char *reason,
                  size_t size)
{
    static const struct fab_wire_ops ops = {use_memory,      find,       forget,    send_message,
                                            receive_message, poll_queue, may_sleep, error_of,
                                            ofi_free};
    const struct fab_ofi_library *library = fab_ofi_library(reason, size);
    if (library == NULL)
        return false;
    struct ofi *ofi = calloc(1, sizeof *ofi);
    (void)snprintf(reason, size, "out of memory");
    if (ofi == NULL)
        return false;
    ofi->library = library;
    ofi->info = choose_allowed(library, options, reason, size);
    *wire = (struct fab_wire){.ops = &ops, .ctx = ofi};
    if (ofi->info == NULL || !name_memory(ofi, options->name)) {
        ofi_free(ofi);
        return false;
    }
    if (!open_all(ofi, &wire->fd)) {
        (void)snprintf(reason, size, "fabric: provider '%s' cannot be used: %s", options->provider,
                       ofi->error);
        ofi_free(ofi);
        return false;
    }
    wire->name = ofi->info->fabric_attr->prov_name;
    wire->message_max = ofi->info->ep_attr->max_msg_size;
    wire->message_good = ofi->info->tx_attr->inject_size;
    wire->address = gmc_bytes(ofi->address, ofi->address_len);
    wire->shares_memory = shares_memory(ofi->info);
    return true;
}
