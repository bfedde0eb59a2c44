/** The operators that search for a text within another text. */
export const TEXT_OPERATORS = [
  'contains',
  'does not contain',
  'starts with',
  'does not start with',
  'ends with',
  'does not end with',
] as const
