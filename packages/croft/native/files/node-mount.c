#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "node-api.h"

/* The kernel takes no more. */
#define MAX_OPTIONS 4096

/* One mount or unmount in progress. The worker thread owns it until it is done. */
struct mounting {
  char target[PATH_MAX], options[MAX_OPTIONS];
  bool is_lazy;
  int outcome;
  napi_deferred promise;
  napi_async_work job;
};

static void mount_overlay(napi_env env, void *data) {
  (void)env;
  struct mounting *mounting = data;
  const long result = syscall(SYS_mount, "croft", mounting->target, "overlay", MS_NOSUID | MS_NODEV, mounting->options);
  mounting->outcome = result == 0 ? 0 : errno;
}

static void unmount(napi_env env, void *data) {
  (void)env;
  struct mounting *mounting = data;
  const long result = syscall(SYS_umount2, mounting->target, UMOUNT_NOFOLLOW | (mounting->is_lazy ? MNT_DETACH : 0));
  mounting->outcome = result == 0 ? 0 : errno;
}

static void finish(napi_env env, napi_status status, void *data) {
  struct mounting *mounting = data;
  napi_value outcome;
  napi_create_int32(env, status == napi_ok ? mounting->outcome : ECANCELED, &outcome);
  napi_resolve_deferred(env, mounting->promise, outcome);
  napi_delete_async_work(env, mounting->job);
  free(mounting);
}

static napi_value start(napi_env env, struct mounting *mounting, napi_async_execute_callback run) {
  napi_value promise, name;
  if (napi_create_string_utf8(env, "croft:mount", NAPI_AUTO_LENGTH, &name) == napi_ok &&
      napi_create_async_work(env, NULL, name, run, finish, mounting, &mounting->job) == napi_ok) {
    if (napi_create_promise(env, &mounting->promise, &promise) == napi_ok && napi_queue_async_work(env, mounting->job) == napi_ok)
      return promise;
    napi_delete_async_work(env, mounting->job);
  }
  free(mounting);
  return refuse(env, "a mount could not be started");
}

napi_value call_mount_overlay(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2];
  struct mounting *mounting = calloc(1, sizeof *mounting);
  if (mounting == NULL) return refuse(env, "memory is exhausted");
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) == napi_ok &&
      take_text(env, given[0], mounting->target, sizeof mounting->target) == 0 &&
      take_text(env, given[1], mounting->options, sizeof mounting->options) == 0)
    return start(env, mounting, mount_overlay);
  free(mounting);
  return refuse(env, "mountOverlay was called with something else than it takes");
}

napi_value call_unmount(napi_env env, napi_callback_info info) {
  size_t count = 2;
  napi_value given[2];
  struct mounting *mounting = calloc(1, sizeof *mounting);
  if (mounting == NULL) return refuse(env, "memory is exhausted");
  if (napi_get_cb_info(env, info, &count, given, NULL, NULL) == napi_ok &&
      take_text(env, given[0], mounting->target, sizeof mounting->target) == 0 &&
      napi_get_value_bool(env, given[1], &mounting->is_lazy) == napi_ok)
    return start(env, mounting, unmount);
  free(mounting);
  return refuse(env, "unmount was called with something else than it takes");
}
