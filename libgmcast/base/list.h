/* SPDX-License-Identifier: BSD-2-Clause
 * Owns the intrusive doubly linked list: a ring through its head, all of it inline.
 *
 * The head and the links in the members are the same struct. A member that is in no list points
 * at itself, so gmc_list_init comes first and gmc_list_remove may be called twice.
 */
#ifndef GMC_BASE_LIST_H
#define GMC_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct gmc_list {
    struct gmc_list *prev;
    struct gmc_list *next;
};

/* The struct of the given type whose member ptr points at. */
#define GMC_CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Visit all members; the body must not remove the visited one. */
#define GMC_LIST_FOREACH(node, head)                                                               \
    for ((node) = (head)->next; (node) != (head); (node) = (node)->next)

/* The body may remove or free the visited member, but no other. */
#define GMC_LIST_FOREACH_SAFE(node, after, head)                                                   \
    for ((node) = (head)->next, (after) = (node)->next; (node) != (head);                          \
         (node) = (after), (after) = (node)->next)

static inline void gmc_list_init(struct gmc_list *list)
{
    list->prev = list;
    list->next = list;
}

static inline bool gmc_list_is_empty(const struct gmc_list *head)
{
    return head->next == head;
}

/* Whether a member is in some list. */
static inline bool gmc_list_is_linked(const struct gmc_list *node)
{
    return node->next != node;
}

/* Put node, which is in no list, in front of the member (or behind all, for the head). */
static inline void gmc_list_insert_before(struct gmc_list *member, struct gmc_list *node)
{
    node->prev = member->prev;
    node->next = member;
    member->prev->next = node;
    member->prev = node;
}

static inline void gmc_list_push_back(struct gmc_list *head, struct gmc_list *node)
{
    gmc_list_insert_before(head, node);
}

static inline void gmc_list_push_front(struct gmc_list *head, struct gmc_list *node)
{
    gmc_list_insert_before(head->next, node);
}

/* Take node out of its list, if it is in one. (clang-tidy takes the neighbours for the node, which
 * its owner frees next, in a loop.) */
static inline void gmc_list_remove(struct gmc_list *node)
{
    node->prev->next = node->next; /* NOLINT(clang-analyzer-unix.Malloc) */
    node->next->prev = node->prev;
    gmc_list_init(node);
}

/* NULL if the list is empty. */
static inline struct gmc_list *gmc_list_first(const struct gmc_list *head)
{
    return gmc_list_is_empty(head) ? NULL : head->next; /* NOLINT(clang-analyzer-unix.Malloc) */
}

static inline struct gmc_list *gmc_list_last(const struct gmc_list *head)
{
    return gmc_list_is_empty(head) ? NULL : head->prev;
}

/* Take out and return the first member, NULL if the list is empty. */
static inline struct gmc_list *gmc_list_pop_front(struct gmc_list *head)
{
    struct gmc_list *node = gmc_list_first(head);

    if (node != NULL)
        gmc_list_remove(node);
    return node;
}

/* Move all members of from, in order, behind those of head; from is empty afterwards. */
static inline void gmc_list_append(struct gmc_list *head, struct gmc_list *from)
{
    if (gmc_list_is_empty(from))
        return;
    from->next->prev = head->prev;
    from->prev->next = head;
    head->prev->next = from->next;
    head->prev = from->prev;
    gmc_list_init(from);
}

#endif
