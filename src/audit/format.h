/* SPDX-License-Identifier: MIT
 * An event in the forms that other programs take: CSV (RFC 4180), syslog (RFC 5424), OpenTelemetry
 * (OTLP, the JSON form of ExportLogsServiceRequest, one a line). Every field is printable: foreign
 * bytes are escaped as on screens.
 *
 * All append to a buffer and return 0 or ZW_E_TOOBIG. */
#ifndef ZW_AUDIT_FORMAT_H
#define ZW_AUDIT_FORMAT_H

#include "src/audit/query.h"
#include "src/base/buf.h"

/** Header and rows end in CRLF. A cell that a spreadsheet would run (= + - @ first) gets a ' before. */
int aud_csv_header(struct zw_buf *out);
int aud_csv_event(struct zw_buf *out, const struct aud_event *e);

/**
 * One message without line end. Facility authpriv; severity warning for what was refused, notice for
 * what was asked, informational for the rest; the fields as structured data.
 *
 * @host  name of this machine
 */
int aud_rfc5424_event(struct zw_buf *out, const struct aud_event *e, const char *host);

/** One request with one log record, without line end. */
int aud_otlp_event(struct zw_buf *out, const struct aud_event *e, const char *host);

#endif
