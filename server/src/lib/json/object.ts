import { NumberText } from './lossless-json.ts'

/** Returns true if a JSON value is an object: not a list, and not a number that is kept as its text. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  )
}

/**
 * Returns the value that an object holds under a name that a caller chose. An empty object has no
 * `constructor`.
 */
export function ownValue<Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

/** Sets an own property, so that a name such as __proto__ is a name like any other. */
export function setOwn(object: object, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  } else Reflect.set(object, name, value)
}
