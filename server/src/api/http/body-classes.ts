import type { FastifyRequest } from 'fastify'

const KIB = 1024

/**
 * The size limits of bodies, by the purpose of a route. Each route names one; larger bodies are refused
 * before they are parsed.
 */
export const BODY_CLASSES = {
  /** A page view. */
  beacon: { bytes: 8 * KIB, values: 100 },
  /** A name, a state, a few ids. */
  control: { bytes: 64 * KIB, values: 10_000 },
  /** A configuration, a selection of rows, a prompt. */
  document: { bytes: 1024 * KIB, values: 100_000 },
  /** 256 KB of text (part 8), of which JSON may escape every character. */
  knowledge: { bytes: 1600 * KIB, values: 100 },
  /** Rows, in any format. */
  rows: { bytes: 16 * KIB * KIB, values: 1_000_000 },
  /** A file, which is streamed. Its limit is the organisation's remaining storage. */
  file: { bytes: Number.MAX_SAFE_INTEGER, values: 0 },
} as const
export type BodyClass = keyof typeof BODY_CLASSES

/** The class of routes that declare none, as an unknown path. */
export const DEFAULT_CLASS: BodyClass = 'control'

export function findBodyLimits({ routeOptions }: FastifyRequest) {
  return BODY_CLASSES[routeOptions.config.body ?? DEFAULT_CLASS]
}
