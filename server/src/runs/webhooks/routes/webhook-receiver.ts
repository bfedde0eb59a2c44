import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { setWindowHeaders, windowFull } from '../../../api/http/admission.ts'
import { nameRun, ok } from '../../../api/http/envelope.ts'
import { asAppError, handleError } from '../../../api/http/errors.ts'
import type { Api, Services } from '../../../api/services.ts'
import { isUnavailable } from '../../../database/connection/db.ts'
import { type AppError, notFound, reasonOf } from '../../../lib/errors.ts'
import { makeStorableText } from '../../../lib/json/storable.ts'
import { hashToken } from '../../../lib/security/keys.ts'
import { createBatcher } from '../../../lib/timing/batcher.ts'
import { readDelivery } from '../../../sheets/rows/delivery.ts'
import { getDefinition } from '../../../sheets/store/definitions.ts'
import type { SheetRecord } from '../../../sheets/store/sheets.ts'
import { admitDeliveries, type WebhookAdmission } from '../store/webhook-admission.ts'
import { createWebhookIntake, SMALL_DELIVERY } from '../webhook-intake.ts'
import { isWebhookToken } from '../webhooks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The sheet whose webhook was called. Set once the token is known and within its limit. */
    webhookSheet: SheetRecord | null
    /** The limit of what the rows that arrive there may cost a day. */
    webhookCap: number | null
  }
}

/** The length of the beginning of a body that is kept for inspection. */
const EXCERPT = 1000
const ID_EXCERPT = 255

/** Returns whether a body is large, or does not declare its size. */
const isLarge = ({ headers }: FastifyRequest): boolean =>
  Number(headers['content-length'] ?? Infinity) > SMALL_DELIVERY

/** Adds the endpoint to which other systems push rows (D10). The token in the path is all they need. */
export function webhookReceiverRoutes(app: Api, { config, store, log }: Services): void {
  const admit = createBatcher<Buffer, WebhookAdmission | null>({
    run: (hashes) => admitDeliveries(store, hashes, config.LOAM_WEBHOOK_PER_MINUTE),
    maxItems: 500,
    maxInFlight: 2,
    isolates: (cause) => !isUnavailable(cause),
  })
  const intake = createWebhookIntake(store)
  app.decorateRequest('webhookSheet', null)
  app.decorateRequest('webhookCap', null)

  app.addHook('onRequest', async (request, reply) => {
    const { token } = request.params as { token: string }
    const admitted = isWebhookToken(token) ? await admit(hashToken(token)) : null
    if (admitted === null) throw notFound('Webhook')
    setWindowHeaders(reply, admitted.minute)
    if (!admitted.granted) throw windowFull(admitted.minute, 'minute', admitted.now)
    request.webhookSheet = admitted.sheet
    request.webhookCap = admitted.capMillis
    // A large delivery takes a turn as requests with a key do; small ones are accepted many at a time.
    if (isLarge(request)) request.turnOwner = admitted.sheet.org_id
    // Senders name all sorts of types, or none. What they send is JSON, or is refused as invalid JSON.
    request.headers['content-type'] = 'application/json'
  })

  /** Records a refused delivery for inspection. If that fails, nothing changes for the sender. */
  async function recordRefusal(request: FastifyRequest, refusal: AppError): Promise<void> {
    const { webhookSheet: sheet } = request
    if (sheet === null || refusal.status >= 500 || refusal.status === 404) return
    try {
      await intake.recordRefusal({ sheet, refused: { ...excerptsOf(request), ...refusalOf(refusal) } })
    } catch (cause) {
      log.warn({ cause: reasonOf(cause) }, 'a refused delivery was not recorded')
    }
  }

  app.setErrorHandler(async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    await recordRefusal(request, asAppError(error, request))
    handleError(error, request, reply)
    return reply
  })

  app.post(
    '/hooks/:token',
    { config: { scope: 'public', body: 'rows', numberTexts: 'all' }, schema: { hide: true } },
    async (request, reply) => {
      const { webhookSheet: sheet } = request
      if (sheet === null) throw notFound('Webhook')
      const { inputs } = await getDefinition(store.org(sheet.org_id), sheet)
      const { data, rejected, warnings } = await readDelivery(inputs, request.body)
      const id = idOf(request)
      const { webhook_id: webhookId, body } = excerptsOf(request)
      const receipt = await intake.accept({
        sheet,
        capMillis: request.webhookCap,
        key: id === null ? null : hashToken(id).toString('hex'),
        data,
        rejected,
        webhookId,
        body,
        bytes: request.bodyText.length,
      })
      if (receipt === null) throw notFound('Webhook')
      nameRun(reply, receipt.runId)
      if (receipt.duplicate) void reply.header('idempotency-replayed', 'true')
      const { row_ids } = receipt
      const answer = { accepted: row_ids.length, row_ids, rejected: receipt.rejected }
      return warnings.length === 0 ? ok(answer) : ok(answer, { warnings })
    },
  )
}

/**
 * Returns the id of a delivery as Standard Webhooks sends it, as Svix does, or as other senders do, or null without
 * one.
 */
function idOf({ headers }: FastifyRequest): string | null {
  return [headers['webhook-id'], headers['svix-id'], headers['idempotency-key']].flat().find(Boolean) ?? null
}

function excerptsOf(request: FastifyRequest): { webhook_id: string | null; body: string } {
  const body = makeStorableText(request.bodyText.slice(0, EXCERPT), () => undefined)
  return { webhook_id: idOf(request)?.slice(0, ID_EXCERPT) ?? null, body }
}

function refusalOf({ status, message, details }: AppError) {
  const reasons = details.errors?.map((error) => `${error.field}: ${error.message}`) ?? [message]
  const [first = message, ...others] = reasons
  const reason = others.length === 0 ? first : `${first}; and ${others.length} more`
  return { status, accepted: 0, rejected: details.errors?.length ?? 0, reason }
}
