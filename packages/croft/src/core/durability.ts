/**
 * What a change to a file waits for before it is answered. `strict`: all of it is on the disk, and nothing takes it back.
 * `relaxed`: nothing; it outlives this program, and the system writes it to the disk when it likes.
 */
export const durabilities = ['strict', 'relaxed'] as const;

export type Durability = (typeof durabilities)[number];
