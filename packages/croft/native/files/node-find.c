#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "find-names.h"
#include "node-api.h"

#define MAX_TEXT 4096

/* One walk in progress. The worker thread owns everything but the promise until the walk is done. */
struct search {
  int root;
  char wanted[MAX_TEXT], skipped[MAX_TEXT], skipped_in_git[MAX_TEXT];
  struct walk_limits limits;
  struct names_found found;
  int outcome;
  napi_deferred promise;
  napi_async_work job;
};

enum { HANDLE, WANTED, SKIPPED, SKIPPED_IN_GIT, DEPTH, ENTRIES, ARGUMENTS };

static void end(struct search *search) {
  if (search->root >= 0) close(search->root);
  free(search->found.bytes);
  free(search);
}

static void run(napi_env env, void *data) {
  (void)env;
  struct search *search = data;
  const struct wanted_names wanted = {search->wanted, search->skipped, search->skipped_in_git};
  search->outcome = find_names(search->root, &wanted, search->limits, &search->found);
}

static void finish(napi_env env, napi_status status, void *data) {
  struct search *search = data;
  napi_value found;
  if (status != napi_ok || search->outcome != 0 ||
      napi_create_buffer_copy(env, search->found.length, search->found.bytes, NULL, &found) != napi_ok)
    napi_get_undefined(env, &found);
  napi_resolve_deferred(env, search->promise, found);
  napi_delete_async_work(env, search->job);
  end(search);
}

/* Names divided by slashes, which become NULs: no name has either. The rest of `names` is zero already. */
static bool take_names(napi_env env, napi_value given, char names[MAX_TEXT]) {
  if (take_text(env, given, names, MAX_TEXT - 1) != 0) return false;
  for (char *at = names; (at = strchr(at, '/')) != NULL;) *at++ = 0;
  return true;
}

/* The walk has a descriptor of its own: the caller may close theirs meanwhile. */
static bool take(napi_env env, napi_callback_info info, struct search *search) {
  size_t count = ARGUMENTS;
  napi_value given[ARGUMENTS];
  int handle;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) != napi_ok ||
      napi_get_value_int32(env, given[HANDLE], &handle) != napi_ok ||
      !take_names(env, given[WANTED], search->wanted) || !take_names(env, given[SKIPPED], search->skipped) ||
      !take_names(env, given[SKIPPED_IN_GIT], search->skipped_in_git) ||
      napi_get_value_uint32(env, given[DEPTH], &search->limits.depth) != napi_ok ||
      napi_get_value_uint32(env, given[ENTRIES], &search->limits.entries) != napi_ok)
    return false;
  search->root = fcntl(handle, F_DUPFD_CLOEXEC, 0);
  return true;
}

napi_value call_find_names(napi_env env, napi_callback_info info) {
  napi_value promise, name;
  struct search *search = calloc(1, sizeof *search);
  if (search == NULL) return refuse(env, "memory is exhausted");
  search->root = -1;
  if (take(env, info, search) && napi_create_string_utf8(env, "croft:findNames", NAPI_AUTO_LENGTH, &name) == napi_ok &&
      napi_create_async_work(env, NULL, name, run, finish, search, &search->job) == napi_ok) {
    if (napi_create_promise(env, &search->promise, &promise) == napi_ok && napi_queue_async_work(env, search->job) == napi_ok)
      return promise;
    napi_delete_async_work(env, search->job);
  }
  end(search);
  return refuse(env, "findNames was called with something else than it takes");
}
