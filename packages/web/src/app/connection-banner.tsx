// Says that the server is gone, for as long as it is. The page goes on showing what it has.
import { connectNow, link } from "../connection/connection.ts";
import { Button } from "../design/button.tsx";
import { Icon } from "../design/icon.tsx";
import { strings } from "../strings/strings.ts";

export function ConnectionBanner() {
  const text = strings.value.app;
  return (
    <div role="status">
      {link.value === "lost" && (
        <div class="banner">
          <Icon name="error" />
          <span>{text.connectionLost}</span>
          <Button size="small" onClick={connectNow}>
            {text.tryNow}
          </Button>
        </div>
      )}
    </div>
  );
}
