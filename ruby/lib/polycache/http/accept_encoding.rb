# frozen_string_literal: true

module Polycache
  module HTTP
    # Chooses a content coding by the field Accept-Encoding (RFC 9110 12.5.3).
    # @api private
    module AcceptEncoding
      ELEMENT = /\A([!#$%&'*+.^_`|~0-9a-z-]+)
                 (?:[ \t]*;[ \t]*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?))?\z/xn
      private_constant :ELEMENT

      # Clients of one program send the same field again and again.
      @last = [nil, {}]

      module_function

      # A client without the field gets the bytes as they are, though it would have to accept any
      # coding.
      #
      # @param field [String, nil]
      # @param codings [Array<String>] in the server's order of preference
      # @param small [Boolean] the bytes gain little by compression, so they are compressed only for
      #   a client that accepts nothing else
      # @return [String, nil] one of them; "identity" for the bytes as they are; nil where the
      #   client accepts nothing that there is
      def choose(field, codings, small:)
        return "identity" if field.nil? || field.empty?

        weights = weights_of(field)
        identity = weights["identity"]
        accepts = (identity || weights["*"] || 1.0).positive?
        return "identity" if small && accepts

        best(weights, codings, accepts ? identity || 0.0 : 0.0) || ("identity" if accepts)
      end

      # An identity that is not named is acceptable, and less so than a coding that is.
      def best(weights, codings, weight)
        best = nil
        codings.each do |coding|
          its = weights[coding] || weights["*"] || 0.0
          next unless best ? its > weight : its.positive? && its >= weight

          best = coding
          weight = its
        end
        best
      end

      # What a client accepts: weights from 0 to 1 by coding, in lower case; an asterisk stands for
      # those that are not named. What is no coding with a weight is skipped.
      def weights_of(field)
        last, weights = @last
        return weights if last == field

        weights = field.b.downcase.split(",").each_with_object({}) do |element, all|
          coding, weight = ELEMENT.match(element.strip)&.captures
          all[coding == "x-gzip" ? "gzip" : coding] = weight ? weight.to_f : 1.0 if coding
        end
        @last = [field.dup.freeze, weights]
        weights
      end

      private_class_method :best, :weights_of
    end
    private_constant :AcceptEncoding
  end
end
