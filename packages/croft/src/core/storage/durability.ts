/**
 * When a file change is answered. `strict`: after all of it is on the disk, so that it survives a power cut. `relaxed`:
 * at once; the change survives the end of this program, and the kernel writes it to the disk later.
 */
export const durabilities = ['strict', 'relaxed'] as const;

export type Durability = (typeof durabilities)[number];
