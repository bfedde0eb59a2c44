import type { FastifyRequest } from 'fastify'

const KIB = 1024

/** How large a body may be, by what a route is for. Each route names one; what is larger is refused before it is parsed. */
export const BODY_CLASSES = {
  /** A view of a page. */
  beacon: { bytes: 8 * KIB, values: 100 },
  /** A name, a state, a few ids. */
  control: { bytes: 64 * KIB, values: 10_000 },
  /** A configuration, a selection of rows, a prompt. */
  document: { bytes: 1024 * KIB, values: 100_000 },
  /** 256 KB of text (part 8), of which JSON may escape every character. */
  knowledge: { bytes: 1600 * KIB, values: 100 },
  /** Rows, however they arrive. */
  rows: { bytes: 16 * KIB * KIB, values: 1_000_000 },
  /** A file, which is streamed: the room that the organisation has left is its limit. */
  file: { bytes: Number.MAX_SAFE_INTEGER, values: 0 },
} as const
export type BodyClass = keyof typeof BODY_CLASSES

/** Where nothing was declared, as for a path that is not there. */
export const DEFAULT_CLASS: BodyClass = 'control'

export function bodyLimitsOf({ routeOptions }: FastifyRequest) {
  return BODY_CLASSES[routeOptions.config.body ?? DEFAULT_CLASS]
}
