/* SPDX-License-Identifier: BSD-2-Clause
 * Owns how comments are taken out of configuration texts before they are parsed.
 */
#ifndef GMC_BASE_COMMENTS_H
#define GMC_BASE_COMMENTS_H

/* Turns comments into blanks, in place; line breaks stay, so that lines keep their numbers.
 * Comments begin with # anywhere, or with // or a slash and a star where a word begins; not inside
 * quotes. libconfuse knows the same ones, but counts their lines twice.
 */
void gmc_blank_comments(char *text);

#endif
