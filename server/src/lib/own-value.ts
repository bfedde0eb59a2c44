/**
 * Returns the value that an object holds under a name that a caller chose. An empty object has no
 * `constructor`.
 */
export function ownValue<Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
