#define _GNU_SOURCE
#include "init/control-files/fold-name.h"

#include <ctype.h>
#include <string.h>

#define MAX_SHORT 6

int may_need_folding(const char *path) {
  for (const unsigned char *at = (const unsigned char *)path; *at != 0; at++) {
    if ((*at >= 'A' && *at <= 'Z') || *at >= 0x80 || *at == ':' || *at == '~') return 1;
    if ((*at == '.' || *at == ' ') && (at[1] == '/' || at[1] == 0)) return 1;
  }
  return 0;
}

/* The bytes of one code point, and the byte that it folds to: 0 for one that is ignored. */
struct folding {
  const char *bytes;
  char folds_to;
};

static const struct folding foldings[] = {
    {"\xe2\x84\xaa", 'k'}, /* the Kelvin sign */
    {"\xc5\xbf", 's'},     /* the long s */
    {"\xc2\xad", 0},       {"\xcd\x8f", 0},       {"\xe1\xa0\x8b", 0},   {"\xe1\xa0\x8c", 0},
    {"\xe1\xa0\x8d", 0},   {"\xe1\xa0\x8e", 0},   {"\xef\xbb\xbf", 0},
};

/* U+200B to U+200F, U+202A to U+202E, U+2060 to U+206F and U+FE00 to U+FE0F. */
static int is_ignored_range(const unsigned char *at) {
  if (at[0] == 0xe2 && at[1] == 0x80) return (at[2] >= 0x8b && at[2] <= 0x8f) || (at[2] >= 0xaa && at[2] <= 0xae);
  if (at[0] == 0xe2 && at[1] == 0x81) return at[2] >= 0xa0 && at[2] <= 0xaf;
  return at[0] == 0xef && at[1] == 0xb8 && at[2] >= 0x80 && at[2] <= 0x8f;
}

/* Returns how many bytes were taken, and appends what they fold to. */
static size_t fold_one(const char *at, size_t left, char *folded, size_t *length) {
  for (size_t i = 0; i < sizeof foldings / sizeof *foldings; i++) {
    const size_t size = strlen(foldings[i].bytes);
    if (left < size || memcmp(at, foldings[i].bytes, size) != 0) continue;
    if (foldings[i].folds_to != 0) folded[(*length)++] = foldings[i].folds_to;
    return size;
  }
  if (left >= 3 && is_ignored_range((const unsigned char *)at)) return 3;
  folded[(*length)++] = (char)(*at >= 'A' && *at <= 'Z' ? *at + 'a' - 'A' : *at);
  return 1;
}

void fold_name(const char *name, size_t length, char *folded, size_t size) {
  size_t done = 0;
  for (size_t at = 0; at < length && name[at] != ':' && done + 1 < size;) at += fold_one(name + at, length - at, folded, &done);
  while (done > 0 && (folded[done - 1] == '.' || folded[done - 1] == ' ')) done--;
  folded[done] = 0;
}

int is_short_name_of(const char *folded, const char *name) {
  char start[MAX_SHORT + 1];
  size_t count = 0;
  if (name[0] != '.') return 0;
  for (const char *at = name + 1; *at != 0 && *at != '.' && count < MAX_SHORT; at++)
    if (isalnum((unsigned char)*at) || *at == '_') start[count++] = *at;
  return strncmp(folded, start, count) == 0 && folded[count] == '~' && isdigit((unsigned char)folded[count + 1]);
}
