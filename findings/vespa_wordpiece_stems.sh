#!/usr/bin/env bash
# Claim: the WordPieceEmbedder of Vespa takes English words to their stems before it looks for pieces, and has no unknown token: of a word
#   that pieces do not cover it gives those of its beginning, and of one without any nothing. BERT's WordPiece, and tokenizers, leave words as
#   they are, and give one unknown token to a word that is not covered. "horses" has the id of horse, though the vocabulary has horses;
#   "seax" that of sea, and "x sea" that of sea alone.
# Packages: com.yahoo.vespa:linguistics-components and container-dev 8.700.24 (Maven), tokenizers 0.23.3.
# Guess: the ids of tokenizers without special tokens.
# It matters to whoever embeds text by Vespa with the vocabulary of a BERT: plurals and forms of verbs are other tokens than those that the
#   model was trained on, and a name that is not in the vocabulary becomes another word, or is gone.
# Date: 2026-12-02. Needs Java 17 and Maven.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check tokenizers==0.23.3
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>pieces</groupId>
  <artifactId>pieces</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.yahoo.vespa</groupId>
      <artifactId>linguistics-components</artifactId>
      <version>8.700.24</version>
    </dependency>
    <dependency>
      <groupId>com.yahoo.vespa</groupId>
      <artifactId>container-dev</artifactId>
      <version>8.700.24</version>
    </dependency>
  </dependencies>
</project>
XML
mvn --quiet --batch-mode dependency:copy-dependencies -DoutputDirectory=jars >maven.log 2>&1 || { cat maven.log; exit 1; }
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' sea horse horses walk '##ed' '##b' , . >vocab.txt
printf '%s\n' 'Sea, horse.' 'horses walked' seax 'x seab' >texts
cat >Pieces.java <<'JAVA'
import com.yahoo.language.process.Embedder;
import com.yahoo.language.wordpiece.WordPieceEmbedder;
import java.nio.file.Files;
import java.nio.file.Path;

public class Pieces {
    public static void main(String[] arguments) throws Exception {
        var pieces = Files.readAllLines(Path.of("vocab.txt"));
        var embedder = new WordPieceEmbedder.Builder().addDefaultModel(Path.of("vocab.txt")).build();
        for (String text : Files.readAllLines(Path.of("texts"))) {
            System.out.print("Vespa");
            for (int number : embedder.embed(text, new Embedder.Context("pieces"))) {
                System.out.print(" " + pieces.get(number));
            }
            System.out.println();
        }
    }
}
JAVA
cat >pieces.py <<'PYTHON'
"""Print the pieces of texts by tokenizers."""

import pathlib

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

pieces = pathlib.Path("vocab.txt").read_text().split("\n")[:-1]
tokenizer = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
tokenizer.normalizer = normalizers.BertNormalizer()
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
for text in pathlib.Path("texts").read_text().splitlines():
    print("tokenizers", *tokenizer.encode(text).tokens)
PYTHON
{ java -cp "jars/*" Pieces.java 2>said; environment/bin/python pieces.py; } | tee seen
cat >expected <<'TEXT'
Vespa sea , horse .
Vespa horse walk
Vespa sea
Vespa sea ##b
tokenizers sea , horse .
tokenizers horses walk ##ed
tokenizers [UNK]
tokenizers [UNK] sea ##b
TEXT
diff expected seen
