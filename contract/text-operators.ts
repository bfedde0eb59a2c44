/** Lists the operators that look for a text within another one. */
export const TEXT_OPERATORS = [
  'contains',
  'does not contain',
  'starts with',
  'does not start with',
  'ends with',
  'does not end with',
] as const
