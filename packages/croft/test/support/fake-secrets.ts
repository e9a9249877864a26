/** Fake tokens are joined from parts, so that no scanner takes a test for a leak. */
export function fake(...parts: string[]): string {
  return parts.join('');
}

export const alphanumerics = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0o1P2';
