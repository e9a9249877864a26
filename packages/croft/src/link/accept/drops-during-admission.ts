/**
 * Remembers the keys that are dropped while the server looks up who a runner is, so that the runner does not enter with
 * an outdated answer.
 */
export function createDropsDuringAdmission() {
  const open = new Set<Set<string>>();
  return {
    note(key: string): void {
      for (const dropped of open) dropped.add(key);
    },
    async around(work: (isDropped: (key: string) => boolean) => Promise<boolean>): Promise<boolean> {
      const dropped = new Set<string>();
      open.add(dropped);
      return await work((key) => dropped.has(key)).finally(() => open.delete(dropped));
    },
  };
}
