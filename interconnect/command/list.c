/* SPDX-License-Identifier: BSD-2-Clause */
/* list: what there is. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "interconnect/command/command.h"
#include "interconnect/command/golden.h"
#include "interconnect/family.h"

static const char *whose_text(unsigned whose)
{
    whose &= IC_BOTH;
    return whose == IC_BOTH ? "both" : whose == IC_MODEL ? "model" : "simulator";
}

/* ---- text ---- */
static void print_families(void)
{
    puts("Families (list FAMILY says more):");
    for (size_t i = 0; i < ic_family_count; i++) {
        const struct ic_family *family = ic_families[i];
        printf("  %-14s %s; %s%s%s\n", family->name, family->title,
               family->model != NULL ? "model" : "",
               family->model != NULL && family->simulate != NULL ? ", " : "",
               family->simulate != NULL ? "simulator" : "");
    }
    puts("\nReference tables (model --golden NAME.csv):");
    for (size_t i = 0; i < ic_golden_count; i++)
        printf("  %s%s\n", ic_goldens[i]->table, ic_goldens[i]->is_simulated ? " (simulated)" : "");
    for (size_t i = 0; i < ic_wan_golden_count; i++)
        printf("  %s\n", ic_wan_goldens[i]->table);
}

static void print_unit(const char *unit)
{
    if (unit[0] != '\0')
        printf(" [%s]", unit);
}

static void print_param(const struct ic_param *param)
{
    printf("  --%-14s %s", param->name, param->about);
    print_unit(param->unit);
    if (param->kind == IC_CHOICE) {
        for (size_t i = 0; param->choices[i] != NULL; i++)
            printf("%s%s", i == 0 ? ": " : ", ", param->choices[i]);
        printf("; usually %s", param->choices[(size_t)param->usual]);
    } else {
        printf("; %.10g to %.10g, usually %.10g", param->least, param->most, param->usual);
    }
    printf("%s%s\n", param->whose == IC_BOTH ? "" : "; for the ",
           param->whose == IC_BOTH ? "" : whose_text(param->whose));
}

static void print_family(const struct ic_family *family)
{
    printf("%s: %s\n%s\n\nParameters:\n", family->name, family->title, family->source);
    for (size_t i = 0; i < family->param_count; i++)
        print_param(&family->params[i]);
    puts("\nFigures:");
    for (size_t i = 0; i < family->output_count; i++) {
        const struct ic_output *output = &family->outputs[i];
        printf("  %-20s %s", output->name, output->about);
        print_unit(output->unit);
        printf("%s%s\n", (output->whose & IC_BOTH) == IC_BOTH ? "" : "; of the ",
               (output->whose & IC_BOTH) == IC_BOTH ? "" : whose_text(output->whose));
    }
}

/* ---- JSON ---- */
static json_t *json_param(const struct ic_param *param)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "name", param->name, "unit", param->unit,
                               "about", param->about, "whose", whose_text(param->whose));
    if (param->kind == IC_CHOICE) {
        json_t *list = json_array();
        for (size_t i = 0; param->choices[i] != NULL; i++)
            json_array_append_new(list, json_string(param->choices[i]));
        json_object_set_new(object, "choices", list);
        json_object_set_new(object, "usual", json_string(param->choices[(size_t)param->usual]));
        return object;
    }
    json_object_set_new(object, "least", json_real(param->least));
    json_object_set_new(object, "most", json_real(param->most));
    json_object_set_new(object, "usual", json_real(param->usual));
    return object;
}

static json_t *json_family(const struct ic_family *family)
{
    json_t *params = json_array(), *outputs = json_array();
    for (size_t i = 0; i < family->param_count; i++)
        json_array_append_new(params, json_param(&family->params[i]));
    for (size_t i = 0; i < family->output_count; i++) {
        const struct ic_output *output = &family->outputs[i];
        json_array_append_new(outputs, json_pack("{s:s, s:s, s:s, s:s}", "name", output->name,
                                                 "unit", output->unit, "about", output->about,
                                                 "whose", whose_text(output->whose)));
    }
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:o, s:o}", "name", family->name, "title",
                     family->title, "source", family->source, "model", family->model != NULL,
                     "simulator", family->simulate != NULL, "parameters", params, "figures",
                     outputs);
}

static void print_json(const struct ic_family *only)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ic_family_count; i++)
        if (only == NULL || only == ic_families[i])
            json_array_append_new(list, json_family(ic_families[i]));
    json_dumpf(list, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(list);
}

int ic_command_list(int argc, char **argv)
{
    const struct ic_family *family = NULL;
    bool is_json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            puts("Usage: gmcast-interconnect list [FAMILY] [--json]\n"
                 "Says which families and reference tables there are, and what a family's\n"
                 "parameters and figures are.");
            return IC_DONE;
        }
        if (strcmp(argv[i], "--json") == 0)
            is_json = true;
        else if (argv[i][0] == '-' || family != NULL)
            return ic_bad("list", "'%s' is not understood; see --help", argv[i]);
        else if ((family = ic_family_find(argv[i])) == NULL)
            return ic_bad("list", "no family is called '%s'", argv[i]);
    }
    if (is_json)
        print_json(family);
    else if (family != NULL)
        print_family(family);
    else
        print_families();
    return ic_finish_output("list");
}
