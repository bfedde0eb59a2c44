import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Warning } from '#contract/envelope.ts'
import { shorten } from '../../lib/errors.ts'

/** The fields beside `data` where the contract has them (D4). */
type Beside = { message?: string; warnings?: Warning[] }

export const ok = defineEnvelope(200)
export const created = defineEnvelope(201)
/** 202: the work continues after the answer. */
export const accepted = defineEnvelope(202)

function defineEnvelope<const Status extends number>(status: Status) {
  function envelope<Data>(data: Data): { status: Status; data: Data }
  function envelope<Data, Extra extends Beside>(
    data: Data,
    beside: Extra,
  ): { status: Status; data: Data } & Extra
  function envelope(data: unknown, beside?: Beside) {
    return { status, data, ...beside }
  }
  return envelope
}

const RUN_HEADER = 'x-run-id'

/** Puts the id of the queued run into the header of the answer (D78). */
export function nameRun(reply: FastifyReply, runId: string | null): void {
  if (runId !== null) void reply.header(RUN_HEADER, runId)
}

export function readRunName(reply: FastifyReply): string | null {
  const runId = reply.getHeader(RUN_HEADER)
  return typeof runId === 'string' ? runId : null
}

/**
 * Completes an envelope: its status becomes the status of the answer, and warnings about the request are
 * added to its own.
 */
export async function completeEnvelope(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (!isEnvelope(payload)) return payload
  void reply.code(payload.status)
  const { warnings = [] } = payload
  const all = request.warnings.length === 0 ? warnings : [...warnings, ...request.warnings]
  return all.length === 0 ? payload : { ...payload, warnings: fitWarnings(all) }
}

/**
 * The limits of warnings in an answer: bytes of JSON in total, characters of a field name, characters of a
 * message.
 */
const MAX_WARNING_BYTES = 256 * 1024
const MAX_FIELD = 300
const MAX_WORDS = 2000

/** Returns the warnings that fit into an answer, and the number of those left out. */
function fitWarnings(warnings: readonly Warning[]): Warning[] {
  const fitting: Warning[] = []
  let bytes = 0
  for (const { field, code, message, text } of warnings) {
    const warning: Warning = {
      field: shorten(field, MAX_FIELD),
      code,
      message: shorten(message, MAX_WORDS),
      ...(text === undefined ? {} : { text: shorten(text, MAX_WORDS) }),
    }
    bytes += Buffer.byteLength(JSON.stringify(warning))
    if (bytes > MAX_WARNING_BYTES) {
      const more = warnings.length - fitting.length
      return [...fitting, { field: 'warnings', code, message: `and ${more} more` }]
    }
    fitting.push(warning)
  }
  return fitting
}

/** Sends 200 with data that is already JSON. */
export function sendJson({ warnings }: FastifyRequest, reply: FastifyReply, data: string): FastifyReply {
  const beside = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`
  return reply
    .code(200)
    .type('application/json; charset=utf-8')
    .send(`{"status":200,"data":${data}${beside}}`)
}

function isEnvelope(payload: unknown): payload is { status: number; warnings?: Warning[] } {
  return (
    typeof payload === 'object' &&
    payload !== null &&
    'status' in payload &&
    typeof payload.status === 'number'
  )
}
