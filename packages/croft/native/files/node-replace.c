#include "node-api.h"

#include <errno.h>
#include <stdlib.h>

#include "replace-durably.h"

/* One replacement in progress. The worker thread owns `replaced` until it is done. */
struct work {
  struct replacement replaced;
  bool is_ordered;
  int outcome;
  napi_deferred promise;
  napi_async_work job;
};

enum { HANDLE, FROM_DIRECTORY, FROM_NAME, TO_DIRECTORY, TO_NAME, HOW, INODE, SIZE, MODIFIED, ARGUMENTS };

static void run(napi_env env, void *data) {
  (void)env;
  struct work *work = data;
  work->outcome = replace_durably(&work->replaced, work->is_ordered);
}

static void finish(napi_env env, napi_status status, void *data) {
  (void)status;
  struct work *work = data;
  napi_value outcome;
  napi_create_int32(env, work->outcome, &outcome);
  napi_resolve_deferred(env, work->promise, outcome);
  napi_delete_async_work(env, work->job);
  free(work);
}

static bool take_entry_name(napi_env env, napi_value directory, napi_value name, struct entry_name *entry) {
  return napi_get_value_int32(env, directory, &entry->directory) == napi_ok &&
         take_text(env, name, entry->name, sizeof entry->name) == 0;
}

/* `undefined` means that there is no file to replace. */
static bool take_version(napi_env env, napi_value *from, struct replacement *replaced) {
  napi_valuetype type;
  if (napi_typeof(env, from[0], &type) != napi_ok) return false;
  replaced->is_there = type != napi_undefined;
  if (!replaced->is_there) return true;
  struct version *before = &replaced->before;
  return napi_get_value_double(env, from[0], &before->inode) == napi_ok &&
         napi_get_value_double(env, from[1], &before->size) == napi_ok &&
         napi_get_value_double(env, from[2], &before->modified) == napi_ok;
}

static bool take(napi_env env, napi_callback_info info, struct replacement *replaced, bool *how) {
  size_t count = ARGUMENTS;
  napi_value given[ARGUMENTS];
  return napi_get_cb_info(env, info, &count, given, NULL, NULL) == napi_ok &&
         napi_get_value_int32(env, given[HANDLE], &replaced->file) == napi_ok &&
         take_entry_name(env, given[FROM_DIRECTORY], given[FROM_NAME], &replaced->from) &&
         take_entry_name(env, given[TO_DIRECTORY], given[TO_NAME], &replaced->to) &&
         napi_get_value_bool(env, given[HOW], how) == napi_ok &&
         take_version(env, &given[INODE], replaced);
}

napi_value call_replace_durably(napi_env env, napi_callback_info info) {
  napi_value promise, name;
  struct work *work = calloc(1, sizeof *work);
  if (work != NULL && take(env, info, &work->replaced, &work->is_ordered) &&
      napi_create_string_utf8(env, "croft:replaceDurably", NAPI_AUTO_LENGTH, &name) == napi_ok &&
      napi_create_async_work(env, NULL, name, run, finish, work, &work->job) == napi_ok) {
    if (napi_create_promise(env, &work->promise, &promise) == napi_ok &&
        napi_queue_async_work(env, work->job) == napi_ok)
      return promise;
    napi_delete_async_work(env, work->job);
  }
  free(work);
  return refuse(env, "replaceDurably was called with something else than it takes");
}

napi_value call_move_if_free(napi_env env, napi_callback_info info) {
  size_t count = 4;
  napi_value given[4];
  struct entry_name from, to;
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) != napi_ok ||
      !take_entry_name(env, given[0], given[1], &from) || !take_entry_name(env, given[2], given[3], &to))
    return refuse(env, "moveIfFree was called with something else than it takes");
  return answer(env, move_if_free(&from, &to) == 0 ? 0 : errno);
}

napi_value call_replace_at_once(napi_env env, napi_callback_info info) {
  struct replacement replaced;
  bool is_relaxed;
  if (!take(env, info, &replaced, &is_relaxed)) return refuse(env, "replaceAtOnce was called with something else than it takes");
  return answer(env, replace_at_once(&replaced, is_relaxed));
}
