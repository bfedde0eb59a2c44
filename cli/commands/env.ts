import type { Command } from 'commander'
import { z } from 'zod'
import type { Db } from '#server/database/connection/db.ts'
import { notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { setEnv, unsetEnv } from '#server/organisation/env-variables.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { type EnvScope, listEnv } from '#server/organisation/store/env-variables.ts'
import { findOrganisationOfWorkflow } from '#server/sheets/store/workflows.ts'
import { examples, Org } from '../flags.ts'
import { formatTable, formatTime } from '../output.ts'
import { inSession, resolveOrganisation } from '../session.ts'
import { readSecret } from '../terminal.ts'

const Workflow = z
  .string()
  .toLowerCase()
  .refine(isUuid, 'must be a UUID, as `loam workflow list` shows it')
  .exactOptional()
const SetFlags = z.strictObject({ org: Org, workflow: Workflow, key: z.string(), value: z.string() })
const ListFlags = z.strictObject({ org: Org, workflow: Workflow })
const UnsetFlags = z.strictObject({ org: Org, workflow: Workflow, key: z.string() })

const ORG = ['--org <org_id>', 'organisation; required if there are several'] as const
const WORKFLOW = [
  '--workflow <workflow_id>',
  'only for this workflow, overriding that of the organisation',
] as const

export function define(env: Command): void {
  env.addHelpText('after', examples('loam env set CRM_TOKEN -', 'loam env list'))

  env
    .command('set')
    .description('Set a variable that actions refer to as {{env.KEY}}; stored encrypted and never shown')
    .argument('<key>', 'letters, digits and _')
    .argument('<value>', 'the value; - reads it from standard input')
    .option(...WORKFLOW)
    .option(...ORG)
    .addHelpText(
      'after',
      examples('loam env set REGION eu', 'loam env set CRM_TOKEN - --workflow <workflow_id> < token.txt'),
    )
    .action(
      inSession(SetFlags, async ({ db, sealer, terminal }, { key, value, ...flags }) => {
        const scope = await resolveScope(db, flags)
        await setEnv(db, sealer, OPERATOR, { scope, key, value: await readSecret(value, terminal) })
        return {
          data: { key, workflow_id: scope.workflowId },
          text: () => `Set ${key}; rows see it within two seconds.`,
        }
      }),
    )

  env
    .command('list')
    .description('List the variables of an organisation and its workflows, without their values')
    .option('--workflow <workflow_id>', 'only the variables of this workflow')
    .option(...ORG)
    .addHelpText('after', examples('loam env list', 'loam env list --workflow <workflow_id> --json'))
    .action(
      inSession(ListFlags, async ({ db }, flags) => {
        const { orgId, workflowId } = await resolveScope(db, flags)
        const all = await listEnv(db, orgId)
        const variables = workflowId === null ? all : all.filter((each) => each.workflow_id === workflowId)
        return {
          data: variables,
          text: () =>
            formatTable(
              ['KEY', 'WORKFLOW', 'UPDATED', 'BY'],
              variables.map(({ key, workflow_id, updated_at, updated_by }) => [
                key,
                workflow_id ?? '(all)',
                formatTime(updated_at),
                updated_by,
              ]),
              'No variables.',
            ),
        }
      }),
    )

  env
    .command('unset')
    .description('Remove a variable; rows that refer to it fail until it is set again')
    .argument('<key>', 'as `loam env list` shows it')
    .option(...WORKFLOW)
    .option(...ORG)
    .addHelpText('after', examples('loam env unset REGION'))
    .action(
      inSession(UnsetFlags, async ({ db }, { key, ...flags }) => {
        const scope = await resolveScope(db, flags)
        await unsetEnv(db, OPERATOR, scope, key)
        return { data: { key, workflow_id: scope.workflowId, unset: true }, text: () => `Removed ${key}.` }
      }),
    )
}

/** Returns the scope. A workflow determines its organisation. */
async function resolveScope(
  db: Db,
  { org, workflow }: { org?: string | undefined; workflow?: string | undefined },
): Promise<EnvScope> {
  if (workflow === undefined)
    return { orgId: (await resolveOrganisation(db, { org })).org_id, workflowId: null }
  const orgId = await findOrganisationOfWorkflow(db, workflow)
  if (orgId === undefined || (org !== undefined && org !== orgId)) throw notFound(`Workflow ${workflow}`)
  return { orgId, workflowId: workflow }
}
