import type { GoldenLanguage } from '../golden.ts';

export const c: GoldenLanguage = {
  path: 'shop.c',
  source: `#include <stdio.h>
#define LIMIT 3
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* A shop. */
struct shop {
	char *name;
	int items[3];
};

typedef struct { int x; } point;

static const int table[] = {
	1,
	2,
};

int counter = 0;

int add(int a, int b);

/* Adds. */
int add(int a, int b)
{
	return a + b;
}

static char *name_of(struct shop *s) { return s->name; }
`,
  outline: [
    'macro LIMIT',
    'macro MAX',
    'struct shop',
    'field shop.name',
    'field shop.items',
    'type point',
    'field point.x',
    'variable table',
    'variable counter',
    'function add',
    'function add',
    'function name_of',
  ],
  edits: [
    {
      edit: 'body',
      symbol: 'add',
      text: 'if (a) {\n  b++;\n}\nreturn b;',
      from: '\treturn a + b;\n',
      to: '\tif (a) {\n\t\tb++;\n\t}\n\treturn b;\n',
    },
    { edit: 'body', symbol: 'name_of', text: 'return 0;', from: '{ return s->name; }', to: '{ return 0; }' },
    {
      edit: 'signature',
      symbol: 'name_of',
      text: 'static const char *name_of(struct shop *s)',
      from: 'static char *name_of(struct shop *s)',
      to: 'static const char *name_of(struct shop *s)',
    },
    {
      edit: 'signature',
      symbol: 'add[0]',
      text: 'long add(int a, int b)',
      from: 'int add(int a, int b);',
      to: 'long add(int a, int b);',
    },
    {
      edit: 'after',
      symbol: 'table',
      text: 'static int more;',
      from: '\t2,\n};\n',
      to: '\t2,\n};\n\nstatic int more;\n',
    },
    {
      edit: 'before',
      symbol: 'shop',
      text: 'int first(void);',
      from: '/* A shop. */',
      to: 'int first(void);\n\n/* A shop. */',
    },
    { edit: 'replace', symbol: 'counter', text: 'int counter = 1;', from: 'int counter = 0;', to: 'int counter = 1;' },
    { edit: 'delete', symbol: 'name_of', from: '\nstatic char *name_of(struct shop *s) { return s->name; }\n', to: '' },
  ],
};
