#define _GNU_SOURCE
#include "init/control-files/read-git-settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_KEY 128
/* Nobody writes longer files by hand, and a longer one that a program in a sandbox wrote is that program's own. */
#define MAX_BYTES (4L * 1024 * 1024)

/* Limits for all files together: files that include each other would never end. */
static long files_left = 8000, bytes_left = 16 * MAX_BYTES;

struct text {
  FILE *file;
  long left;
  int is_over;
};

/* A word that does not fit cannot be a path, so it becomes empty. */
struct word {
  char *bytes;
  size_t length, capacity;
};

static void put(struct word *word, int byte) {
  if (word->length < word->capacity) word->bytes[word->length] = (char)byte;
  word->length++;
}

static void finish(struct word *word) { word->bytes[word->length < word->capacity ? word->length : 0] = 0; }

static int is_space(int byte) { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

/* The end of the file counts as the end of a line; CR LF is one newline. */
static int next(struct text *text) {
  int byte = text->left-- > 0 ? getc_unlocked(text->file) : EOF;
  if (byte == '\r') {
    byte = getc_unlocked(text->file);
    if (byte == '\n') return byte;
    if (byte != EOF) ungetc(byte, text->file);
    return '\r';
  }
  if (byte != EOF) return byte;
  text->is_over = 1;
  return '\n';
}

static void skip_line(struct text *text) {
  while (next(text) != '\n') continue;
}

/* A quoted subsection may hold brackets, and quotes after a backslash. */
static void read_subsection(struct text *text) {
  int byte = next(text);
  while (byte != '"' && byte != '\n') byte = next(text);
  if (byte == '"')
    while ((byte = next(text)) != '"' && byte != '\n')
      if (byte == '\\') next(text);
  while (byte != ']' && byte != '\n') byte = next(text);
}

static void read_section(struct text *text, char *section) {
  struct word word = {section, 0, MAX_KEY};
  for (int byte; (byte = next(text)) != ']' && byte != '\n';) {
    if (is_space(byte)) {
      read_subsection(text);
      put(&word, '.');
      put(&word, '*');
      break;
    }
    put(&word, tolower(byte));
  }
  finish(&word);
}

/* Reads the byte after a backslash. 0 means that the line continues on the next one. */
static int escaped(struct text *text) {
  const int byte = next(text);
  return byte == '\n' ? 0 : byte == 't' ? '\t' : byte == 'b' ? '\b' : byte == 'n' ? '\n' : byte;
}

/* Quotes may start and end anywhere; spaces count only between other bytes. */
static void read_value(struct text *text, struct word *value) {
  int is_quoted = 0, spaces = 0;
  for (int byte; (byte = next(text)) != '\n';) {
    if (!is_quoted && is_space(byte)) {
      if (value->length > 0) spaces++;
      continue;
    }
    if (!is_quoted && (byte == '#' || byte == ';')) return skip_line(text);
    for (; spaces > 0; spaces--) put(value, ' ');
    const int is_escaped = byte == '\\';
    if (byte == '"') is_quoted = !is_quoted;
    else if (!is_escaped) put(value, byte);
    else if ((byte = escaped(text)) != 0) put(value, byte);
    if (text->is_over) return;
  }
}

static int read_setting(struct text *text, int byte, const char *section, setting_taker take, void *context) {
  char name[MAX_KEY], key[2 * MAX_KEY], bytes[PATH_MAX];
  struct word word = {name, 0, sizeof name}, value = {bytes, 0, sizeof bytes};
  for (; isalnum(byte) || byte == '-'; byte = next(text)) put(&word, tolower(byte));
  while (byte == ' ' || byte == '\t') byte = next(text);
  if (byte == '=') read_value(text, &value);
  else if (byte != '\n') skip_line(text);
  finish(&word);
  finish(&value);
  snprintf(key, sizeof key, "%s.%s", section, name);
  return take(context, key, bytes);
}

static int read_all(struct text *text, setting_taker take, void *context) {
  char section[MAX_KEY] = "";
  int result = 0;
  while (result == 0 && !text->is_over) {
    const int byte = next(text);
    if (byte == '#' || byte == ';') skip_line(text);
    else if (byte == '[') read_section(text, section);
    /* Any other byte is a byte order mark, or an error after which git would stop. */
    else if (isalpha(byte)) result = read_setting(text, byte, section, take, context);
  }
  return result;
}

static int too_much(const char *path) {
  fprintf(stderr, "croft-init: the git settings of this workspace include too many files to hold them all; look at %s\n", path);
  return errno = E2BIG, -1;
}

int git_settings_read(const char *path, setting_taker take, void *context) {
  struct stat status;
  int handle = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (handle < 0) return 0;
  if (fstat(handle, &status) != 0 || !S_ISREG(status.st_mode)) return close(handle), 0;
  bytes_left -= status.st_size < MAX_BYTES ? status.st_size : MAX_BYTES;
  if (--files_left < 0 || bytes_left < 0) return close(handle), too_much(path);
  struct text text = {fdopen(handle, "r"), MAX_BYTES, 0};
  if (text.file == NULL) return close(handle), -1;
  int result = read_all(&text, take, context);
  int error = errno;
  fclose(text.file);
  errno = error;
  return result;
}
