/** Returns what an object holds under a name that somebody else chose; `constructor` is not in an empty one. */
export function ownValue<Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
