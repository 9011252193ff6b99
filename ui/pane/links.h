/* SPDX-License-Identifier: MIT
 * The targets of OSC 8 links. A cell holds a number; the same target has the same number. Bounded:
 * when all numbers are taken, those that no cell uses any more are freed. */
#ifndef ZW_UI_PANE_LINKS_H
#define ZW_UI_PANE_LINKS_H

#include "ui/pane/vt_int.h"

/**
 * Number of the link to @uri, for the pen. 0 = no link: the target is empty, too long, has
 * characters that must not be shown, or there are too many links.
 */
uint16_t pane_link_open(struct pane_vt *vt, struct zw_span uri);
/** Target of a link; NULL = none. Borrowed until the next feed. */
const char *pane_link_uri(const struct pane_vt *vt, uint16_t link);
void pane_links_init(struct pane_links *l);
void pane_links_fini(struct pane_links *l);

#endif
