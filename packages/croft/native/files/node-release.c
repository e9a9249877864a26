#include <stdlib.h>

#include "node-api.h"

/* Only glibc has it: other C libraries keep less to themselves. */
extern int malloc_trim(size_t pad) __attribute__((weak));

static void run(napi_env env, void *data) {
  (void)env;
  (void)data;
  if (malloc_trim != NULL) malloc_trim(0);
}

static void finish(napi_env env, napi_status status, void *data) {
  napi_async_work *job = data;
  (void)status;
  napi_delete_async_work(env, *job);
  free(job);
}

/* On another thread: with much to give back it takes some milliseconds. */
napi_value call_release_memory(napi_env env, napi_callback_info info) {
  napi_value name;
  napi_async_work *job = malloc(sizeof *job);
  (void)info;
  if (job == NULL) return refuse(env, "memory is exhausted");
  if (napi_create_string_utf8(env, "croft:releaseMemory", NAPI_AUTO_LENGTH, &name) == napi_ok &&
      napi_create_async_work(env, NULL, name, run, finish, job, job) == napi_ok) {
    if (napi_queue_async_work(env, *job) == napi_ok) return answer(env, 0);
    napi_delete_async_work(env, *job);
  }
  free(job);
  return refuse(env, "releaseMemory could not be started");
}
