#define _GNU_SOURCE
#include "init/control-files/parallel-search.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define STACK (1024 * 1024)
#ifndef MOST_HELPERS
#define MOST_HELPERS 3
#endif
/* A tree of fewer directories is searched before a thread has started. */
#ifndef ALONE
#define ALONE 200
#endif
/* Directories offered to helpers at once, each open. With fewer, a thread would sleep between two of them, and waking it
   takes longer than searching most directories. */
#define MOST_OFFERS 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* The directories that are handed over. Only a thread that searches offers one, so when none does and there is no offer,
   all is done. */
static struct {
  int directory, depth;
  size_t length;
  char path[PATH_MAX];
} offers[MOST_OFFERS];

static searcher *search;
static atomic_int offer_count;
static int idle, searching, failure;
static atomic_long searched;
static pthread_t helpers[MOST_HELPERS];
static atomic_int helper_count;

static void note_failure(void) {
  const int error = errno;
  pthread_mutex_lock(&lock);
  if (failure == 0) failure = error;
  pthread_mutex_unlock(&lock);
}

/* Waits for an offer. Returns 0 when there will be no more. */
static int take_offer(int *directory, char *path, size_t *length, int *depth) {
  pthread_mutex_lock(&lock);
  idle++;
  while (offer_count == 0 && searching > 0) pthread_cond_wait(&changed, &lock);
  idle--;
  const int is_taken = offer_count > 0;
  if (is_taken) {
    const int last = --offer_count;
    *directory = offers[last].directory, *depth = offers[last].depth, *length = offers[last].length;
    memcpy(path, offers[last].path, offers[last].length + 1);
    searching++;
  }
  pthread_mutex_unlock(&lock);
  return is_taken;
}

static void end_search(void) {
  pthread_mutex_lock(&lock);
  if (--searching == 0) pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

static void search_offers(char *path) {
  int directory, depth;
  size_t length;
  while (take_offer(&directory, path, &length, &depth)) {
    if (search(directory, path, length, depth) != 0) note_failure();
    end_search();
  }
}

static void *help(void *unused) {
  char path[PATH_MAX];
  search_offers(path);
  return unused;
}

/* Without helpers, for which there may be no memory or no process left, one thread does all. */
static void start_helpers(void) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, STACK);
  while (helper_count < MOST_HELPERS && helper_count + 1 < processors && pthread_create(&helpers[helper_count], &attributes, help, NULL) == 0)
    helper_count++;
  pthread_attr_destroy(&attributes);
}

int offer_directory(int directory, const char *path, size_t length, int depth) {
  if (++searched == ALONE) start_helpers();
  if (helper_count == 0 || offer_count == MOST_OFFERS) return 0;
  pthread_mutex_lock(&lock);
  const int next = offer_count;
  if (next < MOST_OFFERS) {
    offers[next].directory = directory, offers[next].depth = depth, offers[next].length = length;
    memcpy(offers[next].path, path, length);
    offers[next].path[length] = 0;
    offer_count++;
    if (idle > 0) pthread_cond_signal(&changed);
  }
  pthread_mutex_unlock(&lock);
  return next < MOST_OFFERS;
}

int search_shared(searcher *by, int root) {
  static char path[PATH_MAX];
  search = by;
  searching = 1;
  if (search(root, path, 0, 0) != 0) note_failure();
  end_search();
  search_offers(path);
  for (int i = 0; i < helper_count; i++) pthread_join(helpers[i], NULL);
  helper_count = 0;
  return failure == 0 ? 0 : (errno = failure, -1);
}
