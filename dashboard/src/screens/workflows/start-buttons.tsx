import { useNavigate } from '@tanstack/react-router'
import { useCan } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { FileUp, Plug, Sparkles } from '../../ui/icons.tsx'
import type { useOpenDemo } from './open-demo.ts'

type Props = { demo: ReturnType<typeof useOpenDemo>; isPrimary: boolean; onFile: () => void }

/** The ways to start beside a blank workflow: the demo, a file, a source. */
export function StartButtons({ demo, isPrimary, onFile }: Props) {
  const can = useCan()
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
      <Button icon={FileUp} onClick={onFile}>
        Start from a file
      </Button>
      {can('sources:write') && (
        <Button icon={Plug} onClick={() => void navigate({ to: '/sources' })}>
          Start from a source
        </Button>
      )}
    </>
  )
}
