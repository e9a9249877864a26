/** Keys that were dropped while somebody was asked who a runner is. */
export function createDrops() {
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
