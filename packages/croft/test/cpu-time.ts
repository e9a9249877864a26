/** The least of a few rounds in this thread's processor time, which a busy machine does not stretch. */
export function leastCpuMs(run: () => unknown, rounds = 8): number {
  return Math.min(
    ...Array.from({ length: rounds }, () => {
      const startedAt = process.threadCpuUsage();
      run();
      const { user, system } = process.threadCpuUsage(startedAt);
      return (user + system) / 1000;
    }),
  );
}
