import type { FastifyRequest } from 'fastify'
import { success, successWithWarnings } from '#contract/envelope.ts'
import { PublishBody, RepublishBody, SharingBody } from '#contract/sheet-settings.ts'
import { Shortcut, ShortcutDetails } from '#contract/shortcuts.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { AppError, forbidden } from '../../../lib/errors.ts'
import { findMemberById } from '../../../organisation/store/members.ts'
import { requireWorkflow } from '../../../sheets/routes/workflows/resources.ts'
import { setShortcutState, shareShortcut, updateShortcutDetails } from '../../lifecycle.ts'
import { type GivenSchemas, publishShortcut, republishShortcut, listWarnings } from '../../publish.ts'
import { viewShortcut } from '../../view.ts'
import { shortcutOfPath, ShortcutParams } from '../shortcut-resources.ts'

const control = { scope: 'workflows:write' as const, body: 'control' as const, resource: ownShortcutOfPath }

const answer = { 200: success(200, Shortcut) }

/** Adds the endpoints that create and change shortcuts; the public API reads and runs them. */
export function shortcutSettings(api: Api, services: Services): void {
  definePublish(api, services)
  defineRepublish(api, services)
  defineDetails(api)
  defineStates(api)
  defineSharing(api)
}

function definePublish(api: Api, { catalogue }: Services): void {
  api.post(
    '/shortcuts',
    {
      config: { scope: 'workflows:write', body: 'document' },
      schema: { body: PublishBody, response: { 201: successWithWarnings(201, Shortcut) } },
    },
    async (request) => {
      const { db, caller, body } = request
      const { workflow_id, inputs, outputs, ...details } = body
      await requireWorkflow(request, workflow_id)
      const creator = await findMemberById(db, caller.orgId, caller.memberId)
      if (creator === undefined) throw new AppError('Unauthorized', 'The session has ended. Sign in again')
      const publisher = { db, author: caller, catalogue }
      const made = await publishShortcut(publisher, workflow_id, creator, {
        shown: details,
        given: pickSchemas({ inputs, outputs }),
      })
      return created(viewShortcut(made), { warnings: listWarnings(made) })
    },
  )
}

function defineRepublish(api: Api, { catalogue }: Services): void {
  const document = { ...control, body: 'document' as const }
  const withWarnings = { 200: successWithWarnings(200, Shortcut) }
  api.post(
    '/shortcuts/:id/republish',
    {
      config: document,
      schema: { params: ShortcutParams, body: RepublishBody.prefault({}), response: withWarnings },
    },
    async ({ db, caller, shortcut, body }) => {
      const made = await republishShortcut({ db, author: caller, catalogue }, shortcut, pickSchemas(body))
      return ok(viewShortcut(made), { warnings: listWarnings(made) })
    },
  )
}

function defineDetails(api: Api): void {
  api.patch(
    '/shortcuts/:id',
    {
      config: control,
      schema: { params: ShortcutParams, body: ShortcutDetails.partial(), response: answer },
    },
    async ({ db, caller, shortcut, body }) => {
      const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
      return ok(viewShortcut(await updateShortcutDetails(db, caller, shortcut, given)))
    },
  )
}

function defineStates(api: Api): void {
  for (const [verb, state] of [
    ['unpublish', 'unpublished'],
    ['archive', 'archived'],
  ] as const) {
    api.post(
      `/shortcuts/:id/${verb}`,
      { config: control, schema: { params: ShortcutParams, response: answer } },
      async ({ db, caller, shortcut }) =>
        ok(viewShortcut(await setShortcutState(db, caller, shortcut, state))),
    )
  }
}

function defineSharing(api: Api): void {
  api.post(
    '/shortcuts/:id/share',
    { config: control, schema: { params: ShortcutParams, body: SharingBody, response: answer } },
    async ({ db, caller, shortcut, body }) =>
      ok(viewShortcut(await shareShortcut(db, caller, shortcut, { email: body.email, shared: true }))),
  )

  api.delete(
    '/shortcuts/:id/share/:email',
    {
      config: control,
      schema: { params: ShortcutParams.extend(SharingBody.shape), response: answer },
    },
    async ({ db, caller, shortcut, params }) =>
      ok(viewShortcut(await shareShortcut(db, caller, shortcut, { email: params.email, shared: false }))),
  )
}

/**
 * Allows the publisher and members who may use the workflow. A copy can only be changed through its original,
 * except by administrators.
 */
async function ownShortcutOfPath(request: FastifyRequest): Promise<void> {
  await shortcutOfPath(request)
  const { caller, shortcut } = request
  if (shortcut.parent_id !== null && caller.role !== 'admin') {
    throw forbidden('This shortcut is a copy that was shared with you; only its publisher may change it')
  }
}

function pickSchemas({
  inputs,
  outputs,
}: { [Key in keyof GivenSchemas]: GivenSchemas[Key] | undefined }): GivenSchemas {
  return { ...(inputs === undefined ? {} : { inputs }), ...(outputs === undefined ? {} : { outputs }) }
}
