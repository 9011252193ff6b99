# The parsers: pure, fuzzed, linked by the proxy and by nothing that they could harm.
zw_module(zw_proxy_parse
	SOURCES http1.c body.c socks.c hello.c hello_tls.c dnsmsg.c dohreq.c via.c
	HEADERS http1.h socks.h hello.h dnsmsg.h dohreq.h via.h
	DEPS zw_base zw_policy PkgConfig::GNUTLS)
