/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests interconnect/golden and csv: every reference table is computed again; what is refused. */
#include <string.h>

#include "interconnect/golden.h"
#include "tests/lib/unit.h"
#include "tests/unit/ic_table.h"

static char error[IC_ERROR_MAX];

static void tables_are_computed_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < ic_golden_count; i++) {
        if (!ic_goldens[i]->is_simulated)
            assert_true(ic_table_recompute(ic_goldens[i]) > 0);
        assert_ptr_equal(ic_golden_find(ic_goldens, ic_golden_count, ic_goldens[i]->table),
                         ic_goldens[i]);
    }
    assert_null(ic_golden_find(ic_goldens, ic_golden_count, "sci"));
}

/* Other tests hold all rows, and more of them, to what the simulators owe them. */
static void simulations_are_made_again(void **state)
{
    static const struct {
        const char *table, *simulated, *modelled;
    } cases[] = {
        {"sim_fattree", "sim_latency", "model_chan2"},
        {"sim_multicluster", "sim_latency", "model_node_chan4"},
        {"sim_whcube", "sim_latency_minus_1p5", "model_latency"},
        {"sim_qos", "simL_BE", "modelL_BE"},
        {"sim_ldr", "latency_ns", NULL},
    };
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < ic_golden_count; i++)
        found += ic_goldens[i]->is_simulated;
    assert_int_equal(found, sizeof(cases) / sizeof(cases[0]));
    for (size_t i = 0; i < found; i++) {
        const struct ic_golden *golden =
            ic_golden_find(ic_goldens, ic_golden_count, cases[i].table);
        ic_table_recompute_first(golden, cases[i].simulated, 0.05);
        if (cases[i].modelled != NULL)
            ic_table_recompute_first(golden, cases[i].modelled, IC_GOLDEN_TOLERANCE);
    }
}

static gmc_status recompute(const char *table, const char *text, struct ic_text *out)
{
    struct ic_csv csv;
    const struct ic_golden *golden = ic_golden_find(ic_goldens, ic_golden_count, table);
    assert_non_null(golden);
    ic_text_clear(out);
    assert_ok(ic_csv_parse(&csv, text, strlen(text), error));
    gmc_status status = ic_golden_recompute(golden, &csv, out, error);
    ic_csv_fini(&csv);
    return status;
}

/* Columns come as they are asked for; those that are given are not looked at. */
static void columns_keep_their_order(void **state)
{
    struct ic_text out = {0};
    (void)state;
    assert_ok(recompute("sci_latency", "sep_us,G,k,r,M_bytes,o_us\n?,16,4,4,128,?\n", &out));
    assert_string_equal(out.bytes, "sep_us,G,k,r,M_bytes,o_us\n136.904,16,4,4,128,1.994\n");
    assert_ok(recompute("sci_latency", "G,k,r,M_bytes\n", &out));
    assert_string_equal(out.bytes, "G,k,r,M_bytes\n");
    ic_text_fini(&out);
}

/* At the ends of what the equations hold for. Figures are of a second implementation. */
static void ends_are_computed(void **state)
{
    static const struct {
        const char *table, *head, *row;
    } cases[] = {
        {"wan_case2",
         "topology,link,hops,retrans_rate,time_per_message_in_WAN_units,local_link_utilisation",
         "NC,FE,0,0.1,2.25,0.5555555556"},
        {"sci_schedule", "group_id,k,root,group,algorithm,r,schedule",
         "0,2,2.2,1.1 1.2 2.2,Mu-torus,9,1:2.2>1.1 2:1.1>1.2"},
        /* As printed, flits need not all pass, nor any. */
        {"qos_dmp_single",
         "deadline,r1_load,dmp_R1_literal,dmp_R2_literal,dmp_R1_constrained,dmp_R2_constrained",
         "0,0.004,1,1,1,1"},
        {"qos_dmp_single",
         "deadline,r1_load,dmp_R1_literal,dmp_R2_literal,dmp_R1_constrained,dmp_R2_constrained",
         "4,0.004,0.8747817896,0.8090327604,1,1"},
        {"qos_dmp_single",
         "deadline,r1_load,dmp_R1_literal,dmp_R2_literal,dmp_R1_constrained,dmp_R2_constrained",
         "30,0.004,0.2476366792,0.3256750827,1,1"},
        {"qos_dmp_cube", "n,hops,deadline,r1_load,dmp_R1_literal,dmp_R2_literal",
         "6,2,45,0.004,1,1"},
        {"qos_dmp_cube", "n,hops,deadline,r1_load,dmp_R1_literal,dmp_R2_literal",
         "3,2,60,0.03125,none,none"},
        /* Further than the model holds. */
        {"myrinet_latency", "scheme,algorithm,m_bytes,G,t_us,t_us_table33_Li,Li_eq_us",
         "NB,binary,128,16,8960.856,none,2226.714"},
        /* More best effort than its source's channel carries. */
        {"qos_be_64_flits", "n_0_is_single,be_load,r1_load,L_R1,L_BE,W_R2,W_BE",
         "0,0.02,0.002,37.15289942,162.6551366,2.338014322,inf"},
        {"qos_cube", "n,bs,Lk_variant,be_load,r1_load,L_R1,W_R2,Pbn_BE",
         "3,32,A,0.002,0.03125,none,none,none"},
    };
    struct ic_text out = {0}, wanted = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ic_text_clear(&wanted);
        ic_text_add(&wanted, "%s\n%s\n", cases[i].head, cases[i].row);
        assert_ok(recompute(cases[i].table, wanted.bytes, &out));
        assert_string_equal(out.bytes, wanted.bytes);
    }
    ic_text_fini(&out);
    ic_text_fini(&wanted);
}

static void bad_tables_are_named(void **state)
{
    static const struct {
        const char *table, *text, *words;
    } cases[] = {
        {"sci_latency", "k,r,G\n4,4,4\n", "column M_bytes of table sci_latency is missing"},
        {"sci_latency", "k,r,G,M_bytes,x\n", "table sci_latency has no column x"},
        {"sci_latency", "k,r,G,M_bytes\n4,4,4,2\n\n4,4,-4,2\n",
         "line 4: G is \"-4\"; it must be a whole number"},
        {"sci_latency", "k,r,G,M_bytes\n4,4,1,2\n",
         "line 2: G, the group's size, is 1; it must be 2 to 1048576"},
        {"myrinet_latency", "scheme,algorithm,m_bytes,G\nHB,tree,2,4\n",
         "line 2: algorithm is \"tree\", which is not known"},
        {"sim_whcube", "n,V,M,routing,lambda\n6,3,32,up,0.001\n",
         "line 2: routing is \"up\"; it must be one of pcube, ecube"},
        {"sim_qos", "n_0_is_single,be_load,r1_load\n0,0.01,x\n",
         "line 2: load is \"x\"; it must be a number from 1e-09 to 1"},
        {"sim_ldr", "topology,nodes,routing,switching,load_factor\nldr,64,fixed,cut,0.1\n",
         "line 2: switching is \"cut\", which is not known"},
        {"javadi_saturation", "N,M,Lm_bytes,source_queue,chan_divisor\n1120,32,-1,node,4\n",
         "line 2: Lm_bytes, the length of a flit, is -1; it must be 1 to 1.04858e+06"},
        {"sci_schedule", "group_id,k,root,group,algorithm,r\n0,4,2.2,1.1 2,U-torus,0\n",
         "line 2: \"2\" begins with no node; a node is 2 coordinates from 1 to 4 with dots "
         "between"},
        {"sci_schedule", "group_id,k,root,group,algorithm,r\n0,4,2.2,1.1 2.1,U-torus,0\n",
         "line 2: the root is not one of the members"},
        {"sci_schedule", "group_id,k,root,group,algorithm,r\n0,4,2.2,2.2 1.1 2.2,U-torus,0\n",
         "line 2: member 2.2 is named twice"},
    };
    struct ic_text out = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(recompute(cases[i].table, cases[i].text, &out), GMC_ERR_INVALID);
        assert_string_equal(error, cases[i].words);
    }
    ic_text_fini(&out);
}

static void bad_text_is_refused(void **state)
{
    static const struct {
        const char *text;
        size_t length; /* 0: to its end */
        const char *words;
    } cases[] = {
        {"", 0, "the table is empty: its first line has to name columns"},
        {"\n\r\n", 0, "the table is empty: its first line has to name columns"},
        {"a,,b\n", 0, "line 1: column 2 has no name"},
        {"\na,b,a\n", 0, "line 2: two columns are named a"},
        {"a,b\n1,2\n3\n", 0, "line 3 has 1 fields; its head names 2"},
        {"a,b\n1,2,3", 0, "line 2 has 3 fields; its head names 2"},
        {"a,b\n1,\"2\"\n", 0, "line 2 has a quote; quoted fields are not read"},
        {"a\0b", 3, "line 1 has a zero byte; this is not a text"},
    };
    struct ic_csv csv;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t length = cases[i].length > 0 ? cases[i].length : strlen(cases[i].text);
        assert_int_equal(ic_csv_parse(&csv, cases[i].text, length, error), GMC_ERR_INVALID);
        assert_string_equal(error, cases[i].words);
    }
}

static void tables_are_read(void **state)
{
    static const char text[] = "a,b\r\n1, 2\n\n,x";
    struct ic_csv csv;
    (void)state;
    assert_ok(ic_csv_parse(&csv, text, strlen(text), error));
    assert_int_equal(csv.rows, 2);
    assert_int_equal(csv.columns, 2);
    assert_int_equal(ic_csv_column(&csv, "b"), 1);
    assert_int_equal(ic_csv_column(&csv, "c"), 2);
    assert_string_equal(ic_csv_row(&csv, 0)[1], " 2");
    assert_string_equal(ic_csv_row(&csv, 1)[0], "");
    assert_string_equal(ic_csv_row(&csv, 1)[1], "x");
    assert_int_equal(csv.lines[2], 4);
    ic_csv_fini(&csv);
}

/* As spreadsheets write it: the mark is no part of the first name. */
static void byte_order_mark_is_passed_over(void **state)
{
    static const char text[] = "\xef\xbb\xbf"
                               "a,b\n1,2\n";
    struct ic_csv csv;
    (void)state;
    assert_ok(ic_csv_parse(&csv, text, strlen(text), error));
    assert_string_equal(csv.cells[0], "a");
    assert_string_equal(ic_csv_row(&csv, 0)[0], "1");
    ic_csv_fini(&csv);
}

static void blank_lines_are_passed_over(void **state)
{
    static const char text[] = "a,b\n\n1,2\n \t\n\r\n3,4\n   ";
    struct ic_csv csv;
    (void)state;
    assert_ok(ic_csv_parse(&csv, text, strlen(text), error));
    assert_int_equal(csv.rows, 2);
    assert_string_equal(ic_csv_row(&csv, 1)[0], "3");
    assert_int_equal(csv.lines[2], 6);
    ic_csv_fini(&csv);
}

/* Of the light rows of qos_single whose P are not at rest when the iteration stops: each is as far
 * as the reference, which one step more or less would not be. */
static void light_loads_stop_where_the_reference_does(void **state)
{
    static const char head[] = "be_load,bs,r1_load,Pb_R1,Pb_R2,Pb_BE\n";
    static const char *const rows[] = {
        "0.001,64,0.0005,1.962930405e-09,7.913171689e-11,7.2615774e-08\n",
        "0.001,64,0.0015,5.154323604e-07,3.25512745e-08,1.069033894e-07\n",
    };
    struct ic_text out = {0}, text = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ic_text_clear(&text);
        ic_text_add(&text, "%s%s", head, rows[i]);
        assert_ok(recompute("qos_single", text.bytes, &out));
        assert_string_equal(out.bytes, text.bytes);
    }
    ic_text_fini(&text);
    ic_text_fini(&out);
}

static void figures_agree_within_the_tolerance(void **state)
{
    const struct ic_golden exact = {.tolerance = 0}, loose = {.tolerance = 1e-4};
    (void)state;
    assert_true(ic_golden_agrees(&exact, "1.0000009", "1"));
    assert_false(ic_golden_agrees(&exact, "1.0000011", "1"));
    assert_true(ic_golden_agrees(&loose, "-1.00009", "-1"));
    assert_true(ic_golden_agrees(&exact, "none", "none"));
    assert_true(ic_golden_agrees(&exact, "inf", "inf"));
    assert_false(ic_golden_agrees(&exact, "1", "none"));
    assert_false(ic_golden_agrees(&exact, "1 2", "1 3"));
    assert_false(ic_golden_agrees(&exact, "nan", "1"));
    assert_false(ic_golden_agrees(&exact, "0.1", "0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_computed_again),
        cmocka_unit_test(simulations_are_made_again),
        cmocka_unit_test(columns_keep_their_order),
        cmocka_unit_test(ends_are_computed),
        cmocka_unit_test(bad_tables_are_named),
        cmocka_unit_test(bad_text_is_refused),
        cmocka_unit_test(tables_are_read),
        cmocka_unit_test(byte_order_mark_is_passed_over),
        cmocka_unit_test(blank_lines_are_passed_over),
        cmocka_unit_test(light_loads_stop_where_the_reference_does),
        cmocka_unit_test(figures_agree_within_the_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
