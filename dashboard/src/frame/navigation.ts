import type { LinkProps } from '@tanstack/react-router'
import type { Scope } from '#contract/scopes.ts'
import { BarChart3, Building2, Filter, type Icon, Plug, Settings, Table2, Zap } from '../ui/icons.tsx'

type Entry = { name: string; to: NonNullable<LinkProps['to']>; icon: Icon; scope?: Scope }

export const NAVIGATION: readonly Entry[] = [
  { name: 'Workflows', to: '/workflows', icon: Table2, scope: 'workflows:read' },
  { name: 'Sources', to: '/sources', icon: Plug, scope: 'sources:read' },
  { name: 'Shortcuts', to: '/shortcuts', icon: Zap, scope: 'shortcuts:read' },
  { name: 'Records', to: '/records', icon: Building2, scope: 'records' },
  { name: 'Segments', to: '/segments', icon: Filter, scope: 'records' },
  { name: 'Usage', to: '/usage', icon: BarChart3, scope: 'credits:read' },
  { name: 'Settings', to: '/settings', icon: Settings },
]
