#define _GNU_SOURCE
#include "init/bpf-builder.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>

#define MAX_INSTRUCTIONS 512
#define MAX_RULES 128
#define MAX_JUMP 255
#define FEW 8 /* up to this many rules, a linear search is as fast */

struct rule {
  unsigned int call;
  unsigned short from, length;
};

static struct sock_filter drafts[MAX_INSTRUCTIONS], program[MAX_INSTRUCTIONS];
static unsigned short draft_length, length;
static struct rule rules[MAX_RULES];
static size_t rule_count;
static int is_too_long;

void filter_begin(void) {
  draft_length = length = 0;
  rule_count = 0;
  is_too_long = 0;
}

void filter_emit(unsigned short code, unsigned int k, unsigned char yes, unsigned char no) {
  if (draft_length < MAX_INSTRUCTIONS) drafts[draft_length++] = (struct sock_filter){code, yes, no, k};
  else is_too_long = 1;
}

void filter_rule(int call, unsigned char size) {
  if (rule_count < MAX_RULES) rules[rule_count++] = (struct rule){(unsigned)call, draft_length, size + 1};
  else is_too_long = 1;
  filter_emit(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, size);
}

static void add(struct sock_filter instruction) {
  if (length < MAX_INSTRUCTIONS) program[length++] = instruction;
  else is_too_long = 1;
}

static void add_drafts(unsigned short from, unsigned short count) {
  for (unsigned short i = 0; i < count; i++) add(drafts[from + i]);
}

/* Rules of one call keep their order. */
static int by_call(const void *one, const void *other) {
  const struct rule *rule = one, *than = other;
  if (rule->call != than->call) return rule->call > than->call ? 1 : -1;
  return rule->from > than->from ? 1 : -1;
}

/* Splits near the middle and keeps the rules of one call together. Returns 0 if all are of one call. */
static size_t half_of(const struct rule *from, size_t count) {
  size_t half = count / 2;
  while (half > 0 && from[half].call == from[half - 1].call) half--;
  if (half > 0) return half;
  for (half = count / 2 + 1; half < count; half++)
    if (from[half].call != from[half - 1].call) return half;
  return 0;
}

/* Builds a binary search. A kernel that loads a filter runs it for every system call number, and would read every
   rule each time. */
static void add_rules(const struct rule *from, size_t count) {
  const size_t half = count <= FEW ? 0 : half_of(from, count);
  if (half == 0) {
    for (size_t i = 0; i < count; i++) add_drafts(from[i].from, from[i].length);
    return add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  const unsigned short jump = length + 1;
  add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, from[half].call, 0, 0));
  add_rules(from, half);
  if (length - jump > MAX_JUMP) is_too_long = 1;
  if (is_too_long) return;
  program[jump - 1].jt = (unsigned char)(length - jump);
  add_rules(from + half, count - half);
}

int filter_finish(struct sock_fprog *filter) {
  add_drafts(0, rule_count == 0 ? draft_length : rules[0].from);
  qsort(rules, rule_count, sizeof *rules, by_call);
  add_rules(rules, rule_count);
  *filter = (struct sock_fprog){length, program};
  return is_too_long ? (errno = E2BIG, -1) : 0;
}
