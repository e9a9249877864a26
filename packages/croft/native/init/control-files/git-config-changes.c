#define _GNU_SOURCE
#include "init/control-files/git-config-changes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENTRIES 8192

/* --- parsing, as git does it --- */

struct source {
  const char *at, *end;
  int is_over;
};

struct word {
  char *bytes;
  size_t length, capacity;
  int is_too_long;
};

static void put(struct word *word, int byte) {
  if (word->length + 1 < word->capacity) word->bytes[word->length++] = (char)byte;
  else word->is_too_long = 1;
}

/* The end of the text counts as the end of a line. A carriage return before a newline is skipped. */
static int next(struct source *source) {
  if (source->at == source->end) {
    source->is_over = 1;
    return '\n';
  }
  const int byte = (unsigned char)*source->at++;
  if (byte == '\r' && source->at < source->end && *source->at == '\n') return source->at++, '\n';
  return byte;
}

static int is_space(int byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

static int is_key_byte(int byte) { return isalnum(byte) || byte == '-'; }

/* Reads `"subsection"]`, which follows the name of a section and a space. */
static int read_subsection(struct source *source, int byte, struct word *key) {
  for (; is_space(byte); byte = next(source))
    if (byte == '\n') return -1;
  if (byte != '"') return -1;
  put(key, '.');
  for (;;) {
    byte = next(source);
    if (byte == '\n' || byte == 0) return -1;
    if (byte == '"') break;
    if (byte == '\\' && ((byte = next(source)) == '\n' || byte == 0)) return -1;
    put(key, byte);
  }
  return next(source) == ']' ? 0 : -1;
}

static int read_section(struct source *source, struct word *key) {
  key->length = 0;
  for (;;) {
    const int byte = next(source);
    if (source->is_over) return -1;
    if (byte == ']') return 0;
    if (is_space(byte)) return read_subsection(source, byte, key);
    if (!is_key_byte(byte) && byte != '.') return -1;
    put(key, tolower(byte));
  }
}

static int read_escape(struct source *source, struct word *value) {
  switch (next(source)) {
    case '\n': return 0;
    case 't': return put(value, '\t'), 0;
    case 'b': return put(value, '\b'), 0;
    case 'n': return put(value, '\n'), 0;
    case '\\': return put(value, '\\'), 0;
    case '"': return put(value, '"'), 0;
    default: return -1;
  }
}

/* Reads a value: spaces count only between other bytes, quotes may start and end anywhere, a comment ends with its
   line. */
static int read_value(struct source *source, struct word *value) {
  int is_quoted = 0, is_comment = 0, spaces = 0;
  for (;;) {
    const int byte = next(source);
    if (byte == 0) return -1;
    if (byte == '\n') return is_quoted ? -1 : 0;
    if (is_comment) continue;
    if (!is_quoted && is_space(byte)) {
      if (value->length > 0) spaces++;
      continue;
    }
    if (!is_quoted && (byte == ';' || byte == '#')) {
      is_comment = 1;
      continue;
    }
    for (; spaces > 0; spaces--) put(value, ' ');
    if (byte == '"') is_quoted = !is_quoted;
    else if (byte != '\\') put(value, byte);
    else if (read_escape(source, value) != 0) return -1;
  }
}

/* A setting without `=` is true. */
static int read_entry(struct source *source, int byte, struct word *key, struct word *value) {
  value->length = 0;
  put(key, '.');
  for (; is_key_byte(byte); byte = next(source)) put(key, tolower(byte));
  while (byte == ' ' || byte == '\t') byte = next(source);
  if (byte == '\n') return put(value, 't'), put(value, 'r'), put(value, 'u'), put(value, 'e'), 0;
  return byte == '=' ? read_value(source, value) : -1;
}

static void skip_mark_of_encoding(struct source *source) {
  if (source->end - source->at >= 3 && memcmp(source->at, "\xef\xbb\xbf", 3) == 0) source->at += 3;
}

int git_config_parse(const char *text, size_t length, entry_taker take, void *context) {
  static _Thread_local char keys[MAX_FULL_KEY], values[8192];
  struct word key = {keys, 0, sizeof keys, 0}, value = {values, 0, sizeof values, 0};
  struct source source = {text, text + length, 0};
  size_t section = 0;
  int is_comment = 0;
  skip_mark_of_encoding(&source);
  while (!source.is_over) {
    const int byte = next(&source);
    if (byte == '\n') is_comment = 0;
    if (is_comment || is_space(byte)) continue;
    if (byte == '#' || byte == ';') {
      is_comment = 1;
      continue;
    }
    if (byte == '[') {
      if (read_section(&source, &key) != 0 || key.length == 0) return -1;
      section = key.length;
      continue;
    }
    key.length = section;
    if (!isalpha(byte) || section == 0 || read_entry(&source, byte, &key, &value) != 0) return -1;
    if (key.is_too_long || value.is_too_long) return -1;
    keys[key.length] = values[value.length] = 0;
    if (take(context, keys, values) != 0) return -1;
  }
  return 0;
}

/* --- comparing two versions --- */

struct entry {
  char *key, *value;
};

struct entries {
  struct entry list[MAX_ENTRIES];
  size_t count;
};

static int keep(void *context, const char *key, const char *value) {
  struct entries *entries = context;
  if (entries->count == MAX_ENTRIES) return -1;
  struct entry *entry = &entries->list[entries->count++];
  entry->key = strdup(key);
  entry->value = strdup(value);
  return entry->key == NULL || entry->value == NULL ? -1 : 0;
}

static void forget(struct entries *entries) {
  for (size_t i = 0; i < entries->count; i++) {
    free(entries->list[i].key);
    free(entries->list[i].value);
  }
  free(entries);
}

static int by_key(const void *one, const void *other) {
  const struct entry *a = one, *b = other;
  const int order = strcmp(a->key, b->key);
  return order != 0 ? order : strcmp(a->value, b->value);
}

static struct entries *read_sorted(const char *text, size_t length) {
  struct entries *entries = calloc(1, sizeof *entries);
  if (entries == NULL) return NULL;
  if (git_config_parse(text, length, keep, entries) != 0) return forget(entries), NULL;
  qsort(entries->list, entries->count, sizeof *entries->list, by_key);
  return entries;
}

/* Returns the first unsafe entry that only one of the two has, or NULL. */
static const struct entry *find_unsafe(const struct entries *before, const struct entries *after, int depth) {
  for (size_t i = 0, j = 0; i < before->count || j < after->count;) {
    const int order = i == before->count ? 1 : j == after->count ? -1 : by_key(&before->list[i], &after->list[j]);
    if (order == 0) {
      i++, j++;
      continue;
    }
    const struct entry *entry = order < 0 ? &before->list[i++] : &after->list[j++];
    if (!is_safe_setting(entry->key, entry->value, depth)) return entry;
  }
  return NULL;
}

int is_safe_change(const char *before, size_t before_length, const char *after, size_t after_length, int depth, char *key) {
  struct entries *old = read_sorted(before, before_length), *new = read_sorted(after, after_length);
  const struct entry *unsafe = old == NULL || new == NULL ? NULL : find_unsafe(old, new, depth);
  const int is_safe = old != NULL && new != NULL && unsafe == NULL;
  if (!is_safe) strcpy(key, unsafe == NULL ? "a line that cannot be read" : unsafe->key);
  if (old != NULL) forget(old);
  if (new != NULL) forget(new);
  return is_safe;
}
