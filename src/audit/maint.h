/* SPDX-License-Identifier: MIT
 * `zwatch db` and the removing of history, done by zwatch-audit because it alone writes the store. */
#ifndef ZW_AUDIT_MAINT_H
#define ZW_AUDIT_MAINT_H

/** argv: "db" STORE WORD [ARGUMENT...], see maint.c. Returns the exit status. */
int aud_maint(int argc, char **argv);

#endif
