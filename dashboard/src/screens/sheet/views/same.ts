/** Returns whether two values are the same as JSON, in whatever order their fields are. */
export const isSame = (one: unknown, other: unknown): boolean => print(one) === print(other)

const print = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
