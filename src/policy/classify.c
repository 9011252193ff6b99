/* SPDX-License-Identifier: MIT */
#include "src/policy/rules.h"

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/str.h"

#define CLASSES_MAX 65535
#define GLOBS_MAX   65535

/* Room for one more in an array that grows by doubling: at 0, 1, 2, 4, 8 … it is full. */
static void *room_for_one(void *array, size_t n, size_t size)
{
	if ((n & (n - 1)) != 0)
		return array;
	return zw_xrealloc(array, n > 0 ? n * 2 : 1, size);
}

int pol_class_add(struct policy *p, const struct pol_class *c)
{
	struct pol_class *copy;

	if (p->n_classes >= CLASSES_MAX)
		return ZW_E_TOOBIG;
	if (c->risk >= POL_RISK_MAX || c->treat >= POL_TREAT_MAX || c->way >= POL_WAY_MAX)
		return ZW_E_SYNTAX;
	copy = zw_xnew(struct pol_class);
	*copy = *c;
	copy->name[sizeof(copy->name) - 1] = '\0';
	p->classes = room_for_one(p->classes, p->n_classes, sizeof(struct pol_class *));
	p->classes[p->n_classes] = copy;
	return (int)p->n_classes++;
}

int pol_pattern_add(struct policy *p, unsigned index, bool is_abstract, const char *glob)
{
	size_t len = strlen(glob);

	if (index >= p->n_classes || len == 0)
		return ZW_E_SYNTAX;
	if (p->n_globs >= GLOBS_MAX || len > POL_PATTERN_MAX)
		return ZW_E_TOOBIG;
	if (!is_abstract)
		glob = pol_path_canonical(glob, &len);
	p->globs = room_for_one(p->globs, p->n_globs, sizeof(struct pol_glob));
	p->globs[p->n_globs++] =
		(struct pol_glob){(uint16_t)index, is_abstract, zw_xmemdup0(glob, len)};
	return 0;
}

static const struct pol_class *class_of(const struct policy *p, bool is_abstract, const char *s,
					size_t len)
{
	if (s == NULL)
		return NULL;
	if (!is_abstract)
		s = pol_path_canonical(s, &len);
	for (size_t i = 0; i < p->n_globs; i++) {
		const struct pol_glob *g = &p->globs[i];

		if (g->is_abstract == is_abstract && zw_glob(g->text, s, len))
			return p->classes[g->index];
	}
	return NULL;
}

/* How careful a class makes; what the catalogue does not know counts as low. */
static unsigned severity(const struct pol_class *c)
{
	if (c == NULL)
		return POL_RISK_LOW;
	return c->treat == POL_TREAT_BY_RISK ? (unsigned)c->risk : POL_RISK_MAX + c->treat;
}

const struct pol_class *pol_classify(const struct policy *p, const struct pol_socket *s)
{
	const struct pol_class *c = class_of(p, false, s->path, s->path_len);
	const struct pol_class *alias = class_of(p, false, s->alias, s->alias_len);

	/* The spelling is the asker's choice: a link of its own named /dev/log must not make
	 * another socket harmless. */
	if (alias != NULL && severity(alias) > severity(c))
		return alias;
	return c != NULL ? c : class_of(p, true, s->abstract, s->abstract_len);
}
