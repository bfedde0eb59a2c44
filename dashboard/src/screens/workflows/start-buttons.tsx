import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { useCan } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { FileUp, Plug, Sparkles } from '../../ui/icons.tsx'
import type { useOpenDemo } from './open-demo.ts'
import { useStartFromFile } from './start-from-file.ts'

type Props = { demo: ReturnType<typeof useOpenDemo>; isPrimary: boolean }

/** The ways to start beside a blank workflow: the demo, a file, a source. */
export function StartButtons({ demo, isPrimary }: Props) {
  const can = useCan()
  const start = useStartFromFile()
  const files = useRef<HTMLInputElement>(null)
  const navigate = useNavigate()
  return (
    <>
      <Button
        kind={isPrimary ? 'primary' : 'plain'}
        icon={Sparkles}
        busy={demo.isPending}
        onClick={() => demo.mutate()}
      >
        Open the demo workflow
      </Button>
      <Button icon={FileUp} busy={start.isPending} onClick={() => files.current?.click()}>
        Start from a file
      </Button>
      <input
        ref={files}
        type="file"
        hidden
        accept=".csv,.xlsx,text/csv"
        onChange={({ target }) => {
          const file = target.files?.[0]
          if (file !== undefined) start.mutate(file)
          target.value = ''
        }}
      />
      {can('sources:write') && (
        <Button icon={Plug} onClick={() => void navigate({ to: '/sources/new', search: {} })}>
          Start from a source
        </Button>
      )}
    </>
  )
}
