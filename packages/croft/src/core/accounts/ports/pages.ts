export interface PageRequest {
  readonly limit: number;
  /** The unchanged `next` of the previous page. The filter must be the same for both pages. */
  readonly after?: string | undefined;
}

export interface Paged<Row> {
  readonly rows: readonly Row[];
  /** Absent on the last page. */
  readonly next?: string | undefined;
}
