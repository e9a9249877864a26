/** Listings are read by every store that collects, so that their form is in `core`. */
export * from '../core/history/listing.ts';
