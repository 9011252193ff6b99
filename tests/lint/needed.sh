#!/bin/sh
# The libraries that each program is linked with: the link line is the privilege list's cheap twin.
set -eu
bin=$ZW_BIN
bad=0
allow() {
	program=$1
	shift
	[ -x "$bin/$program" ] || { echo "$program was not built"; bad=1; return; }
	for lib in $(readelf -d "$bin/$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		case " $* libc.so.6 ld-linux-x86-64.so.2 libm.so.6 libasan.so.8 libubsan.so.1 libpthread.so.0 libgcc_s.so.1 libresolv.so.2 librt.so.1 libdl.so.2 " in
		*" $lib "*) ;;
		*) echo "$program needs $lib, which its role does not allow"; bad=1 ;;
		esac
	done
}
ev="libevent_core-2.1.so.7"
allow zwatch $ev libncursesw.so.6 libtinfo.so.6 libsqlite3.so.0 libyajl.so.2 libidn2.so.0
allow zwatch-pane $ev
allow zwatch-proxy $ev libgnutls.so.30 libnghttp2.so.14
allow zwatch-resolver $ev libgetdns.so.10 libgnutls.so.30 libnghttp2.so.14
allow zwatch-broker $ev
allow zwatch-audit $ev libsqlite3.so.0 libnettle.so.8
allow zwatch-init
allow zwatch-demo
exit $bad
