/** Identifies a persistent sandbox. Sessions with the same key share it. */
export interface ReservationKey {
  readonly accountId: string;
  /** Id of the sandbox record. */
  readonly sandboxId: string;
  readonly workspaceId: string;
  /** The name of the workspace, which is part of its path inside. */
  readonly workspace: string;
}

/** A persistent sandbox whose set-up is complete. The row outlives the server that has the sandbox open. */
export interface ReservationRow extends ReservationKey {
  /** Hash of the set-up commands that ran. With others, the set-up runs again. */
  readonly setUp: string;
  /** When the sandbox was first opened, by the clock of the records. Its lifetime counts from here. */
  readonly createdAt: string;
}

export interface ReservationTable {
  get(key: ReservationKey): Promise<ReservationRow | undefined>;
  /** Inserts the row, or replaces it. */
  put(row: ReservationRow): Promise<void>;
  remove(key: ReservationKey): Promise<boolean>;
  /** Removes the rows of a sandbox record, or of a workspace record. Returns how many there were. */
  removeOf(accountId: string, of: { readonly sandboxId: string } | { readonly workspaceId: string }): Promise<number>;
}
