/* SPDX-License-Identifier: MIT
 * Makes everything that documents zwatch from data/doc and from the tables that the program itself
 * reads, so that neither can say what is not so:
 *
 *   zw_doc man NAME SECTION < FILE     a man page, man(7)
 *   zw_doc text < FILE                 the same as plain text, for `zwatch help NAME`
 *   zw_doc completion bash|zsh|fish    completions of words, options and settings
 *
 * Runs while zwatch is built and is not installed. The text is of lines:
 *
 *   # HEAD        section              : term      followed by its paragraph
 *   ## Head       subsection           - item      of a list
 *       indented  literal              @table      commands, options, settings, sockets
 *   else a paragraph, up to an empty line. `code` is set apart. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/str.h"
#include "src/config/agents.h"
#include "src/config/catalogue.h"
#include "src/policy/policy.h"

#define WIDTH	   78
#define LINE_MAX_B 4096

static const struct {
	const char *word, *arguments, *help;
} commands[] = {
#define ZW_CMD(name, word, arguments, help) {word, arguments, help},
#include "src/main/cmd.def"
#undef ZW_CMD
};

static const struct {
	const char *word;
	char letter;
	const char *argument, *help;
} options[] = {
#define ZW_OPT(name, word, letter, argument, help) {word, letter, argument, help},
#include "src/main/opt.def"
#undef ZW_OPT
};

enum { NOW, LATER };
enum { WIDENS, NARROWS, RAISES, LOWERS, LIMITS };

static const struct {
	const char *path, *type, *fallback, *choices, *help;
	int use, project;
} settings[] = {
#define CFG_KEY(path, type, member, fallback, low, high, choices, use, project, help) \
	{path, #type, fallback, choices, help, use, project},
#define CFG_OTHER(path, kind, text)
#define CFG_MOVED(path, right)
#include "src/config/keys.def"
#undef CFG_KEY
#undef CFG_OTHER
#undef CFG_MOVED
};

/* -- writers ----------------------------------------------------------------------------------- */

/* What a form of the text has to be able to do. */
struct writer {
	void (*section)(const char *title, bool is_sub);
	void (*paragraph)(const char *text);
	void (*term)(const char *term, const char *text);
	void (*item)(const char *text);
	void (*literal)(const char *line, bool is_first);
	void (*literal_end)(void);
};

/* -- man(7) ------------------------------------------------------------------------------------ */

/* A backslash, a dot or quote at the start of a line, and - have meanings of their own. */
static void roff(const char *text)
{
	bool is_start = true, is_bold = false;

	for (const char *c = text; *c != '\0'; c++) {
		if (*c == '`') {
			is_bold = !is_bold;
			fputs(is_bold ? "\\fB" : "\\fR", stdout);
			continue;
		}
		if (is_start && (*c == '.' || *c == '\''))
			fputs("\\&", stdout);
		if (*c == '\\')
			fputs("\\e", stdout);
		else if (*c == '-')
			fputs("\\-", stdout);
		else
			putchar(*c);
		is_start = *c == '\n';
	}
	putchar('\n');
}

static void man_section(const char *title, bool is_sub)
{
	printf(is_sub ? ".SS " : ".SH ");
	roff(title);
}

static void man_paragraph(const char *text)
{
	puts(".PP");
	roff(text);
}

static void man_term(const char *term, const char *text)
{
	printf(".TP\n\\fB");
	fflush(stdout);
	for (const char *c = term; *c != '\0'; c++)
		fputs(*c == '-' ? "\\-" : *c == '\\' ? "\\e" : (char[]){*c, '\0'}, stdout);
	puts("\\fR");
	roff(text);
}

static void man_item(const char *text)
{
	puts(".IP \\(bu 2");
	roff(text);
}

static void man_literal(const char *line, bool is_first)
{
	if (is_first)
		puts(".PP\n.RS 4\n.nf");
	/* An empty line would be a paragraph of another kind. */
	if (*line == '\0')
		puts("\\&");
	else
		roff(line);
}

static void man_literal_end(void)
{
	puts(".fi\n.RE");
}

static const struct writer man = {man_section, man_paragraph, man_term,
				  man_item,    man_literal,   man_literal_end};

/* -- plain text -------------------------------------------------------------------------------- */

/* Fills lines up to WIDTH, @indent blanks before each; back-quotes stay out. */
static void fill(const char *text, int indent, const char *lead)
{
	int column = 0;

	while (*text != '\0') {
		size_t n = strcspn(text, " \n"), shown = 0;

		for (size_t i = 0; i < n; i++)
			shown += text[i] != '`';
		if (column > indent && column + 1 + (int)shown > WIDTH) {
			putchar('\n');
			column = 0;
		}
		if (column == 0)
			column = printf("%*s%s", indent - (int)strlen(lead), "", lead);
		else if (column > indent)
			column += printf(" ");
		lead = "";
		for (size_t i = 0; i < n; i++)
			if (text[i] != '`')
				putchar(text[i]);
		column += (int)shown;
		text += n + strspn(text + n, " \n");
	}
	putchar('\n');
}

/* An empty line before a block, but not below a heading. */
static bool is_below_heading;

static void gap(void)
{
	if (!is_below_heading)
		putchar('\n');
	is_below_heading = false;
}

static void text_section(const char *title, bool is_sub)
{
	is_below_heading = true;
	printf("\n%s%s\n", is_sub ? "   " : "", title);
}

static void text_paragraph(const char *text)
{
	gap();
	fill(text, 7, "");
}

static void text_term(const char *term, const char *text)
{
	gap();
	printf("       %s\n", term);
	fill(text, 14, "");
}

static void text_item(const char *text)
{
	gap();
	fill(text, 9, "- ");
}

static void text_literal(const char *line, bool is_first)
{
	if (is_first)
		gap();
	printf("%s%s\n", *line != '\0' ? "           " : "", line);
}

static void text_literal_end(void)
{
}

static const struct writer plain = {text_section, text_paragraph, text_term,
				    text_item,	  text_literal,	  text_literal_end};

/* -- tables ------------------------------------------------------------------------------------ */

static void put_commands(const struct writer *w)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(commands); i++) {
		zw_autofree char *term = zw_xasprintf("%s%s%s", commands[i].word,
						      *commands[i].arguments != '\0' ? " " : "",
						      commands[i].arguments);
		zw_autofree char *text = zw_xasprintf("%s.", commands[i].help);

		text[0] = (char)toupper((unsigned char)text[0]);
		w->term(term, text);
	}
}

static void put_options(const struct writer *w)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(options); i++) {
		char letter[8] = "";

		if (options[i].letter != 0)
			snprintf(letter, sizeof(letter), "-%c, ", options[i].letter);
		zw_autofree char *term =
			zw_xasprintf("%s--%s%s%s", letter, options[i].word,
				     options[i].argument != NULL ? " " : "",
				     options[i].argument != NULL ? options[i].argument : "");
		zw_autofree char *text = zw_xasprintf("%s.", options[i].help);

		text[0] = (char)toupper((unsigned char)text[0]);
		w->term(term, text);
	}
}

static void put_settings(const struct writer *w)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(settings); i++) {
		bool has_choices = *settings[i].choices != '\0';
		zw_autofree char *text = zw_xasprintf(
			"%s.%s%s Default: %s.%s%s", settings[i].help, has_choices ? " One of " : "",
			has_choices ? settings[i].choices : "",
			*settings[i].fallback != '\0' ? settings[i].fallback : "none",
			settings[i].project == NARROWS ? " May stand in a project file."
			: settings[i].project != WIDENS
				? " A project file may set what is stricter."
				: "",
			settings[i].use == LATER
				? " Checked and kept, not in force in this version."
				: "");
		/* "One of a|b" ends with its own full stop. */
		w->term(settings[i].path, text);
	}
}

static void put_sockets(const struct writer *w)
{
	static char *const env[] = {NULL};
	static char home[] = "~", runtime[] = "$XDG_RUNTIME_DIR", config[] = "~/.config/zwatch",
		    state[] = "~/.local/state/zwatch", start[] = ".";
	struct cfg_places places = {.home = home,
				    .home_real = home,
				    .runtime_dir = runtime,
				    .config_dir = config,
				    .state_dir = state,
				    .start_dir = start,
				    .uid = 1000};
	struct cfg_catalogue *cat = NULL;

	if (cfg_catalogue_load(&places, env, &cat) < 0) {
		fprintf(stderr, "zw_doc: the catalogue cannot be read\n");
		exit(1);
	}
	for (size_t i = 0; i < cat->n_classes; i++) {
		const struct cfg_class *c = &cat->classes[i];
		zw_autofree char *term =
			zw_xasprintf("%s (%s)", c->c.name, pol_risk_word(c->c.risk));
		char places_text[LINE_MAX_B] = "";
		size_t n = 0;

		for (size_t k = 0; k < cat->n_patterns; k++)
			if (cat->patterns[k].class_index == i && n + 300 < sizeof(places_text))
				n += (size_t)snprintf(places_text + n, sizeof(places_text) - n,
						      "%s%s%s", n > 0 ? ", " : " Known as ",
						      cat->patterns[k].is_abstract ? "@" : "",
						      cat->patterns[k].glob);
		zw_autofree char *text =
			zw_xasprintf("%s: %s If you allow it: %s%s%s", c->title, c->brief, c->allow,
				     places_text, n > 0 ? "." : "");
		w->term(term, text);
	}
	cfg_catalogue_free(cat);
}

static void put_table(const struct writer *w, const char *name)
{
	if (strcmp(name, "commands") == 0)
		put_commands(w);
	else if (strcmp(name, "options") == 0)
		put_options(w);
	else if (strcmp(name, "settings") == 0)
		put_settings(w);
	else if (strcmp(name, "sockets") == 0)
		put_sockets(w);
	else {
		fprintf(stderr, "zw_doc: no table '%s'\n", name);
		exit(1);
	}
}

/* -- reading ----------------------------------------------------------------------------------- */

enum block { BLOCK_NONE, BLOCK_PARAGRAPH, BLOCK_TERM, BLOCK_ITEM, BLOCK_LITERAL };

struct reader {
	const struct writer *w;
	enum block block;
	char text[16 * LINE_MAX_B], term[LINE_MAX_B];
	size_t n_blank; /* empty lines inside a literal, held back */
};

static void end_block(struct reader *r)
{
	if (r->block == BLOCK_PARAGRAPH)
		r->w->paragraph(r->text);
	else if (r->block == BLOCK_TERM)
		r->w->term(r->term, r->text);
	else if (r->block == BLOCK_ITEM)
		r->w->item(r->text);
	else if (r->block == BLOCK_LITERAL)
		r->w->literal_end();
	r->block = BLOCK_NONE;
	r->text[0] = '\0';
	r->n_blank = 0;
}

static void add_text(struct reader *r, const char *line)
{
	size_t n = strlen(r->text);

	snprintf(r->text + n, sizeof(r->text) - n, "%s%s", n > 0 ? "\n" : "", line);
}

static void begin(struct reader *r, enum block block, const char *line)
{
	end_block(r);
	r->block = block;
	if (block == BLOCK_TERM)
		zw_strlcpy(r->term, line, sizeof(r->term));
	else
		add_text(r, line);
}

static void literal(struct reader *r, const char *line)
{
	bool is_first = r->block != BLOCK_LITERAL;

	if (is_first) {
		end_block(r);
		r->block = BLOCK_LITERAL;
	}
	for (; r->n_blank > 0; r->n_blank--)
		r->w->literal("", false);
	r->w->literal(line, is_first);
}

static void take_line(struct reader *r, const char *line)
{
	if (*line == '\0') {
		if (r->block == BLOCK_LITERAL)
			r->n_blank++;
		else
			end_block(r);
	} else if (zw_starts_with(line, "    ")) {
		literal(r, line + 4);
	} else if (zw_starts_with(line, "## ")) {
		end_block(r);
		r->w->section(line + 3, true);
	} else if (zw_starts_with(line, "# ")) {
		end_block(r);
		r->w->section(line + 2, false);
	} else if (*line == '@') {
		end_block(r);
		put_table(r->w, line + 1);
	} else if (zw_starts_with(line, ": ")) {
		begin(r, BLOCK_TERM, line + 2);
	} else if (zw_starts_with(line, "- ")) {
		begin(r, BLOCK_ITEM, line + 2);
	} else if (r->block == BLOCK_NONE || r->block == BLOCK_LITERAL) {
		begin(r, BLOCK_PARAGRAPH, line);
	} else {
		add_text(r, line);
	}
}

static void convert(const struct writer *w)
{
	static struct reader r;
	char line[LINE_MAX_B];

	r.w = w;
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		take_line(&r, line);
	}
	end_block(&r);
}

/* -- completion -------------------------------------------------------------------------------- */

static void words(void)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(commands); i++)
		printf("%s ", commands[i].word);
	const char *const *agents = cfg_agent_names();

	for (size_t i = 0; agents[i] != NULL; i++)
		printf("%s%s", i > 0 ? " " : "", agents[i]);
}

static void long_options(void)
{
	for (size_t i = 0; i < ZW_N_ELEMENTS(options); i++)
		printf("%s--%s", i > 0 ? " " : "", options[i].word);
}

/* Words that an option's argument is one of: "watch|guard|strict". */
static bool is_choice(const char *argument)
{
	return argument != NULL && strchr(argument, '|') != NULL &&
	       strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789|-") == strlen(argument);
}

static void spaced(const char *choices)
{
	for (const char *c = choices; *c != '\0'; c++)
		putchar(*c == '|' ? ' ' : *c);
}

static void complete_bash(void)
{
	printf("# bash completion of zwatch; made from its tables\n"
	       "_zwatch() {\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i word=\n"
	       "\tCOMPREPLY=()\n"
	       "\tcase $prev in\n");
	for (size_t i = 0; i < ZW_N_ELEMENTS(options); i++) {
		if (!is_choice(options[i].argument))
			continue;
		printf("\t--%s) COMPREPLY=($(compgen -W '", options[i].word);
		spaced(options[i].argument);
		printf("' -- \"$cur\")); return ;;\n");
	}
	printf("\t--config|--output|-o|--ro|--rw|--hide|-C|--directory|--allow-unix) "
	       "COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
	       "\tesac\n"
	       "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	       "\t\t[[ ${COMP_WORDS[i]} == -* ]] || { word=${COMP_WORDS[i]}; break; }\n"
	       "\tdone\n"
	       "\tcase $word in\n");
	for (size_t i = 0; i < ZW_N_ELEMENTS(commands); i++) {
		if (!is_choice(commands[i].arguments))
			continue;
		printf("\t%s) COMPREPLY=($(compgen -W '", commands[i].word);
		spaced(commands[i].arguments);
		printf("' -- \"$cur\")); [[ $cur == -* ]] || return ;;\n");
	}
	printf("\tesac\n"
	       "\tif [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '");
	long_options();
	printf("' -- \"$cur\"))\n"
	       "\telif [[ -z $word ]]; then COMPREPLY=($(compgen -W '");
	words();
	printf("' -- \"$cur\"))\n"
	       "\telif [[ $word == show || $word == log || $word == export ]]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"last $(zwatch history 2>/dev/null | awk 'NR > 1 "
	       "{print $1}')\" -- \"$cur\"))\n"
	       "\telse COMPREPLY=($(compgen -f -- \"$cur\"))\n"
	       "\tfi\n"
	       "}\n"
	       "complete -o bashdefault -F _zwatch zwatch\n");
}

/* What stands inside single quotes, for zsh, where a colon and brackets have meanings. */
static void quoted(const char *text)
{
	for (const char *c = text; *c != '\0'; c++)
		if (*c == '\'')
			fputs("'\\''", stdout);
		else if (*c == '[' || *c == ']' || *c == ':')
			printf("\\%c", *c);
		else
			putchar(*c);
}

static void complete_zsh(void)
{
	printf("#compdef zwatch\n# zsh completion of zwatch; made from its tables\n"
	       "local -a commands\ncommands=(\n");
	for (size_t i = 0; i < ZW_N_ELEMENTS(commands); i++) {
		printf("\t'%s:", commands[i].word);
		quoted(commands[i].help);
		puts("'");
	}
	printf(")\n_arguments -C");
	for (size_t i = 0; i < ZW_N_ELEMENTS(options); i++) {
		printf(" \\\n\t'*--%s[", options[i].word);
		quoted(options[i].help);
		putchar(']');
		if (is_choice(options[i].argument)) {
			printf(":value:(");
			spaced(options[i].argument);
			putchar(')');
		} else if (options[i].argument != NULL) {
			printf(":value:_files");
		}
		putchar('\'');
	}
	printf(" \\\n\t'1:command:->word' \\\n\t'*::argument:_files'\n"
	       "[[ $state == word ]] && _describe command commands\n");
}

static void complete_fish(void)
{
	printf("# fish completion of zwatch; made from its tables\n"
	       "complete -c zwatch -f -n __fish_use_subcommand -a '");
	words();
	printf("'\n");
	for (size_t i = 0; i < ZW_N_ELEMENTS(options); i++) {
		printf("complete -c zwatch -l %s", options[i].word);
		if (options[i].letter != 0)
			printf(" -s %c", options[i].letter);
		if (is_choice(options[i].argument)) {
			printf(" -x -a '");
			spaced(options[i].argument);
			printf("'");
		} else if (options[i].argument != NULL) {
			printf(" -r");
		}
		printf(" -d ");
		putchar('"');
		for (const char *c = options[i].help; *c != '\0'; c++)
			if (*c != '"' && *c != '$' && *c != '\\')
				putchar(*c);
		printf("\"\n");
	}
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "man") == 0) {
		printf(".TH %s %s \"\" \"zwatch %s\" \"zwatch\"\n", argv[2], argv[3], ZW_VERSION);
		convert(&man);
	} else if (argc == 2 && strcmp(argv[1], "text") == 0) {
		convert(&plain);
	} else if (argc == 3 && strcmp(argv[1], "completion") == 0) {
		if (strcmp(argv[2], "bash") == 0)
			complete_bash();
		else if (strcmp(argv[2], "zsh") == 0)
			complete_zsh();
		else
			complete_fish();
	} else {
		fprintf(stderr, "zw_doc: man NAME SECTION | text | completion SHELL\n");
		return 2;
	}
	return ferror(stdout) ? 1 : 0;
}
