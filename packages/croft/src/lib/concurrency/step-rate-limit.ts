export type StepRateLimit = ReturnType<typeof createStepRateLimit>;

/**
 * A token bucket for steps: they can be spent and are refilled with time. Limits work that lasts as long as somebody
 * causes it.
 */
export function createStepRateLimit(perSecond: number, now = () => performance.now()) {
  let [left, at] = [perSecond, now()];
  return {
    spend(steps: number): void {
      left -= steps;
    },
    /** True until enough steps have been refilled. */
    isSpent(): boolean {
      const elapsed = now() - at;
      at += elapsed;
      left = Math.min(perSecond, left + (elapsed / 1000) * perSecond);
      return left <= 0;
    },
  };
}
