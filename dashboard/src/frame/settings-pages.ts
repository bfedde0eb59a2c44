import type { LinkProps } from '@tanstack/react-router'
import type { Scope } from '#contract/scopes.ts'
import {
  Activity,
  KeyRound,
  Link2,
  type Icon,
  MonitorSmartphone,
  ScrollText,
  Users,
  Variable,
} from '../ui/icons.tsx'

type SettingsPage = {
  name: string
  to: NonNullable<LinkProps['to']>
  icon: Icon
  text: string
  scope?: Scope
}

export const SETTINGS: readonly SettingsPage[] = [
  {
    name: 'Members',
    to: '/settings/members',
    icon: Users,
    text: 'People in your organisation and their roles',
    scope: 'members:write',
  },
  {
    name: 'API keys',
    to: '/settings/keys',
    icon: KeyRound,
    text: 'Keys for API access',
    scope: 'workflows:read',
  },
  {
    name: 'Connections',
    to: '/settings/connections',
    icon: Link2,
    text: 'Your accounts with providers, models and CRMs',
  },
  {
    name: 'Environment',
    to: '/settings/environment',
    icon: Variable,
    text: 'Secrets that actions refer to by name',
    scope: 'workflows:read',
  },
  { name: 'Sessions', to: '/settings/sessions', icon: MonitorSmartphone, text: 'Where you are signed in' },
  {
    name: 'Audit log',
    to: '/settings/audit',
    icon: ScrollText,
    text: 'Who changed what, and when',
    scope: 'members:write',
  },
  {
    name: 'Health',
    to: '/settings/health',
    icon: Activity,
    text: 'Server status and limits',
    scope: 'members:write',
  },
]
