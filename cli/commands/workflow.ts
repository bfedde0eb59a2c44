import type { Command } from 'commander'
import { z } from 'zod'
import { notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { findOrganisationOfWorkflow, listOwnedWorkflows } from '#server/sheets/store/workflows.ts'
import { setSharing } from '#server/sheets/workflows.ts'
import { examples, KnownEmail, Org } from '../flags.ts'
import { formatTable, formatTime } from '../output.ts'
import { inSession, resolveOrganisation } from '../session.ts'

const ShareFlags = z.strictObject({
  org: Org,
  workflow: z.string().toLowerCase().refine(isUuid, 'must be a UUID, as `loam workflow list` shows it'),
  email: KnownEmail,
  revoke: z.literal(true).exactOptional(),
})

export function define(workflow: Command): void {
  workflow.addHelpText(
    'after',
    examples('loam workflow list', 'loam workflow share --workflow <workflow_id> --email bob@example.com'),
  )

  workflow
    .command('share')
    .description('Give a member access to a workflow, or remove it')
    .requiredOption('--workflow <workflow_id>', 'the workflow')
    .requiredOption('--email <address>', 'a member of the same organisation')
    .option('--revoke', 'remove the access')
    .option('--org <org_id>', 'organisation of the workflow, as a check')
    .addHelpText(
      'after',
      examples(
        'loam workflow share --workflow <workflow_id> --email bob@example.com',
        'loam workflow share --workflow <workflow_id> --email bob@example.com --revoke',
      ),
    )
    .action(
      inSession(ShareFlags, async ({ db }, { org, workflow: workflow_id, email, revoke }) => {
        const orgId = await findOrganisationOfWorkflow(db, workflow_id)
        if (orgId === undefined || (org !== undefined && org !== orgId)) {
          throw notFound(`Workflow ${workflow_id}`)
        }
        const shared = revoke !== true
        await setSharing(db, OPERATOR, { orgId, workflowId: workflow_id, email }, shared)
        return {
          data: { workflow_id, email, shared },
          text: () => `${workflow_id} is ${shared ? 'now' : 'no longer'} shared with ${email}.`,
        }
      }),
    )

  workflow
    .command('list')
    .description('List the workflows of an organisation')
    .option('--org <org_id>', 'organisation; required if there are several')
    .addHelpText('after', examples('loam workflow list', 'loam workflow list --json'))
    .action(
      inSession(z.strictObject({ org: Org }), async ({ db }, flags) => {
        const { org_id } = await resolveOrganisation(db, flags)
        const workflows = await listOwnedWorkflows(db, org_id)
        return {
          data: workflows,
          text: () =>
            formatTable(
              ['WORKFLOW', 'OWNER', 'UPDATED', 'NAME'],
              workflows.map((entry) => [
                entry.workflow_id,
                entry.owner ?? '-',
                formatTime(entry.updated_at),
                entry.name,
              ]),
              'No workflows.',
            ),
        }
      }),
    )
}
