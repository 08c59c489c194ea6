/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the test of the client API: over a transport of its own, without a gateway.
 */
#include "gmcast/client.h"

#include "tests/lib/unit.h"
#include "wire/ctl_codec.h"

#include <stdlib.h>
#include <string.h>

/* What the transport answers, and what it was asked. */
struct script {
    enum gmc_client_result result;
    struct gmc_ctl_reply reply;
    const char *garbage; /* instead of a reply */
    enum gmc_ctl_kind asked_kind;
    char asked_channel[64];
    int closed;
};

static enum gmc_client_result script_call(void *ctx, const uint8_t *request, size_t request_len,
                                          int timeout_ms, uint8_t **reply, size_t *reply_len,
                                          char *error, size_t error_len)
{
    struct script *script = ctx;
    struct gmc_ctl_request asked;
    struct gmc_ctl_holder *holder;

    (void)timeout_ms;
    assert_ok(gmc_ctl_decode_request(gmc_bytes(request, request_len), &asked, &holder));
    script->asked_kind = asked.kind;
    strcpy(script->asked_channel, asked.channel);
    gmc_ctl_release(holder);
    if (script->result != GMC_CLIENT_OK) {
        strncpy(error, "nobody there", error_len);
        return script->result;
    }
    if (script->garbage != NULL) {
        *reply_len = strlen(script->garbage);
        *reply = malloc(*reply_len);
        memcpy(*reply, script->garbage, *reply_len);
        return GMC_CLIENT_OK;
    }
    assert_ok(gmc_ctl_encode_reply(&script->reply, reply, reply_len));
    return GMC_CLIENT_OK;
}

static void script_close(void *ctx)
{
    ((struct script *)ctx)->closed++;
}

static struct gmc_client *client_of(struct script *script)
{
    struct gmc_client_transport transport = {script, script_call, script_close};

    return gmc_client_new(&transport);
}

static void test_replies_are_given_as_data(void **state)
{
    const struct gmc_ctl_member member = {.domain = "b", .state = GMC_CTL_MEMBER_RECEIVING};
    const struct gmc_ctl_transfer transfer = {.channel = "0123456789abcdef@a",
                                              .members = &member,
                                              .member_count = 1};
    struct script script = {.reply = {.transfers = &transfer, .transfer_count = 1}};
    struct gmc_client *client = client_of(&script);
    const struct gmc_ctl_transfer *got;

    (void)state;
    assert_int_equal(gmc_client_status(client, "0123", &got), GMC_CLIENT_OK);
    assert_int_equal(script.asked_kind, GMC_CTL_STATUS);
    assert_string_equal(script.asked_channel, "0123");
    assert_string_equal(got->members[0].domain, "b");
    /* A request may borrow from the reply before it. */
    assert_int_equal(gmc_client_cancel(client, got->channel), GMC_CLIENT_OK);
    assert_string_equal(script.asked_channel, "0123456789abcdef@a");
    gmc_client_free(client);
    assert_int_equal(script.closed, 1);
}

static void test_failures_are_told_apart(void **state)
{
    struct script script = {.result = GMC_CLIENT_NO_GATEWAY};
    struct gmc_client *client = client_of(&script);
    const struct gmc_ctl_transfer *transfer;

    (void)state;
    assert_int_equal(gmc_client_resume(client, "x"), GMC_CLIENT_NO_GATEWAY);
    assert_string_equal(gmc_client_error(client), "nobody there");
    script.result = GMC_CLIENT_OK;
    script.reply = (struct gmc_ctl_reply){.status = GMC_ERR_ACCESS, .error = "not you"};
    assert_int_equal(gmc_client_resume(client, "x"), GMC_CLIENT_REFUSED);
    assert_string_equal(gmc_client_error(client), "not you");
    script.reply = (struct gmc_ctl_reply){.status = GMC_ERR_NOT_FOUND};
    assert_int_equal(gmc_client_resume(client, "x"), GMC_CLIENT_NOT_FOUND);
    assert_string_equal(gmc_client_error(client), gmc_status_text(GMC_ERR_NOT_FOUND));
    script.reply = (struct gmc_ctl_reply){0};
    assert_int_equal(gmc_client_status(client, "x", &transfer), GMC_CLIENT_BAD_REPLY);
    script.garbage = "HTTP/1.1 400 Bad Request";
    assert_int_equal(gmc_client_resume(client, "x"), GMC_CLIENT_BAD_REPLY);
    assert_int_equal(gmc_client_add(client, "x", &(struct gmc_ctl_target){"d", "", NULL}),
                     GMC_CLIENT_BAD_REPLY);
    gmc_client_free(client);
}

static void test_states_have_names(void **state)
{
    (void)state;
    assert_string_equal(gmc_client_transfer_state_name(GMC_CTL_TRANSFER_FAILED), "failed");
    assert_string_equal(gmc_client_member_state_name(GMC_CTL_MEMBER_SILENT), "silent");
    assert_string_equal(gmc_client_member_state_name((enum gmc_ctl_member_state)99), "unknown");
    assert_false(gmc_client_transfer_is_over(GMC_CTL_TRANSFER_RUNNING));
    assert_true(gmc_client_transfer_is_over(GMC_CTL_TRANSFER_PARTIAL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replies_are_given_as_data),
        cmocka_unit_test(test_failures_are_told_apart),
        cmocka_unit_test(test_states_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
