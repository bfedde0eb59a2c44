/** One step of `?.address.lines[0]`. An optional step ends the walk without an error if there is no value. */
export type Step = { key: string; optional: boolean }

export type Walked = { ok: true; value: unknown } | { ok: false; message: string }

const STEP = /\s*(?:(\?)?\.\s*([A-Za-z_$][\w$]*)|(\?\.)?\[\s*(?:(\d+)|"([^"\\]*)"|'([^'\\]*)')\s*\])/y

/** Returns the steps of a chain of property reads, or null if the text holds anything else. */
export function parsePath(text: string): Step[] | null {
  const steps: Step[] = []
  const source = text.trim()
  STEP.lastIndex = 0
  for (let end = 0; end < source.length; end = STEP.lastIndex) {
    const found = STEP.exec(source)
    if (found === null) return null
    const [, optionalName, name, optionalIndex, index, double, single] = found
    steps.push({
      key: name ?? index ?? double ?? single ?? '',
      optional: optionalName !== undefined || optionalIndex !== undefined,
    })
  }
  return steps
}

/** Reads a path as JavaScript does, but only the value's own properties and none of its prototypes. */
export function walkPath(value: unknown, steps: Step[]): Walked {
  let at = value
  for (const { key, optional } of steps) {
    if (at === null || at === undefined) {
      if (optional) return { ok: true, value: undefined }
      return { ok: false, message: `TypeError: cannot read property '${key}' of ${String(at)}` }
    }
    at = Object.hasOwn(Object(at), key) ? (Object(at) as Record<string, unknown>)[key] : undefined
  }
  return { ok: true, value: at }
}
